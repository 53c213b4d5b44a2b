printf 'SRC := $(wildcard *.src)\nall: $(SRC:.src=.obj)\n%%.obj: %%.src\n\t@sort $< > $@\n\t@echo built $@\n' > Makefile
printf 'b\na\n' > x.src; printf 'd\nc\n' > y.src; make -j2 --output-sync | sort; cat x.obj y.obj
