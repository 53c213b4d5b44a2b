git --version | cut -d' ' -f1-2; git config --global init.defaultBranch trunk; git config --global --get init.defaultBranch
git diff --no-index /dev/null /dev/null && echo same
