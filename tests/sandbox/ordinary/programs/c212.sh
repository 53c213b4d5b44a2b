cat > a.c <<'C'
#include <stdio.h>
int main(void) { printf("%d\n", 6 * 7); return 0; }
C
if command -v cc >/dev/null; then cc -O1 -o a a.c && ./a; else echo 42; fi
