cat > Makefile <<'M'
CC ?= cc
all: out.txt
out.txt: in.txt
	tr a-z A-Z < $< > $@
in.txt:
	echo hello > $@
clean:
	rm -f *.txt
.PHONY: all clean
M
make -s && cat out.txt; make -q && echo "up to date"; touch in.txt; make -n | wc -l; make clean
