#!/usr/bin/env bash
cat > Makefile <<'END'
OBJECTS := a.o b.o
.PHONY: clean
app: $(OBJECTS)
	cat $^ > $@
%.o: %.txt
	tr a-z A-Z < $< > $@
clean:
	rm -f app $(OBJECTS)
END
echo hello > a.txt
echo world > b.txt
make
make
touch -d '+1 minute' b.txt
make -n
cat app
make -s clean
ls
