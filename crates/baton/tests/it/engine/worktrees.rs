//! What an agent finds in its worktree, by `[worktree]` of the settings.

use super::shop::Shop;

#[test]
fn named_files_and_submodules_are_there_and_are_no_work_of_the_agents() {
    let settings = "[worktree]\ncopy = [\".env\", \"not/there\"]\nsubmodules = true";
    let mut shop = Shop::with_agent("cat .env part/inside > seen.txt; work", settings);
    let config = shop.home.join("gitconfig");
    std::fs::write(&config, "[protocol \"file\"]\n\tallow = always\n").unwrap();
    shop.variables.push(("GIT_CONFIG_GLOBAL".to_owned(), config.display().to_string()));
    let part = shop.home.join("part");
    std::fs::create_dir(&part).unwrap();
    std::fs::write(part.join("inside"), "from the submodule\n").unwrap();
    let part = part.display().to_string();
    for arguments in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "Part"]] {
        shop.git(&[&["-C", &part], arguments].concat());
    }
    shop.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &part, "part"]);
    shop.git(&["commit", "-q", "-m", "Add a part"]);
    std::fs::write(shop.folder.join(".env"), "SECRET=1\n").unwrap();
    std::fs::write(shop.folder.join(".git/info/exclude"), ".env\n").unwrap();
    let task = shop.add("Look around", &[]);
    shop.work_until(&[(&task, "provisional")]);
    shop.says(&["accept", &task]);
    assert_eq!(shop.git(&["show", "baton/next:seen.txt"]), "SECRET=1\nfrom the submodule");
    assert!(!shop.try_git(&["show", "baton/next:.env"]).0, "a copied file is not committed");
}

#[test]
fn a_repository_without_commits_says_what_to_do_and_the_task_is_not_blamed() {
    let shop = Shop::diligent("");
    std::fs::remove_dir_all(shop.folder.join(".git")).unwrap();
    shop.git(&["init", "-q", "-b", "main"]);
    let task = shop.add("Anything", &[]);
    let up = shop.up();
    let said = up.hears("rests until");
    assert!(said.contains("no commits"), "{said}");
    up.end();
    assert_eq!(shop.queue(&task), "incoming");
}
