//! An agent that failed twice for no task's fault takes no more work for a while, whatever happens to Baton meanwhile.

use super::shop::Shop;

#[test]
fn a_pause_survives_a_kill() {
    let shop = Shop::diligent("");
    let path = shop.folder.join(".agent/baton.toml");
    let settings =
        "default_agent = \"mine\"\n[agents.mine]\nkind = \"command\"\ncommand = [\"/nowhere/agent\"]\n";
    std::fs::write(&path, settings).unwrap();
    let task = shop.add("Build it", &[]);
    let up = shop.up();
    up.hears("agent mine rests until");
    up.kill();
    let before = shop.attempts(&task).len();
    assert_eq!(before, 2, "two in a row make a pause");
    let up = shop.up();
    up.hears("agent mine still rests until");
    up.end();
    assert_eq!(shop.attempts(&task).len(), before, "nobody was set on it");
    assert_eq!(shop.queue(&task), "incoming", "and it is not blamed");
}
