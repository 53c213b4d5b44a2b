curl -s --max-time 2 file://$PWD/nothing || echo "curl failed"; echo hi > f; curl -s file://$PWD/f; curl --version | head -1 | cut -d' ' -f1
