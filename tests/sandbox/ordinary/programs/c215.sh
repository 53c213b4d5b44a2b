mkdir -p app/{src,test}; cat > app/run.sh <<'S'
#!/usr/bin/env bash
echo "args: $*"; cd "$(dirname "$0")"; ls
S
chmod 755 app/run.sh; app/run.sh a b; (umask 077; touch t; stat -c %a t); mv t app/; rmdir app/test; du -s app >/dev/null && tree app 2>/dev/null | head -0; ls -la app | wc -l; install -m 600 app/run.sh c; stat -c %a c; realpath --relative-to=. app/src; ln app/t hard; stat -c %h hard
