// Renders ANSI colours as spans: sixteen colours and weights; other codes are dropped.

/** @typedef {{ text: string, class: string }} Piece */

// eslint-disable-next-line no-control-regex
const CODES = /\x1b\[([0-9;?]*)([@-~])|\x1b[^[]?/g;

/** @param {string} line @returns {Piece[]} */
export function pieces(line) {
  if (!line.includes("\x1b")) return [{ text: line, class: "" }];
  /** @type {Piece[]} */
  const found = [];
  let style = { colour: "", weights: new Set() };
  let from = 0;
  const push = (/** @type {number} */ to) => {
    if (to > from) found.push({ text: line.slice(from, to), class: [style.colour, ...style.weights].filter(Boolean).join(" ") });
  };
  for (const match of line.matchAll(CODES)) {
    push(match.index);
    from = match.index + match[0].length;
    if (match[2] === "m") style = styled(style, match[1]);
  }
  push(line.length);
  return found;
}

const WEIGHTS = /** @type {Record<number, string>} */ ({ 1: "a-b", 2: "a-d", 3: "a-i", 4: "a-u" });

/** @param {{ colour: string, weights: Set<string> }} style @param {string} codes */
function styled(style, codes) {
  let { colour } = style;
  let weights = new Set(style.weights);
  const numbers = codes.split(";").map(Number);
  for (let at = 0; at < numbers.length; at += 1) {
    const code = numbers[at];
    if (code === 0) [colour, weights] = ["", new Set()];
    else if (WEIGHTS[code]) weights.add(WEIGHTS[code]);
    else if (code === 22) weights = new Set([...weights].filter((each) => each !== "a-b" && each !== "a-d"));
    else if (code === 39) colour = "";
    else if (code >= 30 && code <= 37) colour = `a-${code}`;
    else if (code >= 90 && code <= 97) colour = `a-${code - 60}`;
    else if (code === 38 || code === 48) {
      // 256 colours and true colour: the first sixteen map to the basic ones, others are ignored.
      const value = numbers[at + 2] ?? 0;
      if (code === 38 && numbers[at + 1] === 5 && value < 16) colour = `a-${30 + (value % 8)}`;
      at += numbers[at + 1] === 5 ? 2 : 4;
    }
  }
  return { colour, weights };
}
