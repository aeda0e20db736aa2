// Keeps a conversation scrolled to its end, unless the person scrolled up.

const NEAR_PX = 120;

export function stayAtEnd() {
  let isAtEnd = true;
  addEventListener("scroll", () => {
    const { scrollHeight, clientHeight } = document.documentElement;
    isAtEnd = scrollY + clientHeight >= scrollHeight - NEAR_PX;
  }, { passive: true });
  return () => {
    const isAnswering = document.activeElement?.closest(".question");
    if (isAtEnd && !isAnswering && document.getElementById("thread")) scrollTo(0, document.documentElement.scrollHeight);
  };
}
