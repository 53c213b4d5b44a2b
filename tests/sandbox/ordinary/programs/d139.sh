#!/usr/bin/env bash
cat > users.xml <<'END'
<users><user id="1"><name>Ann</name></user><user id="2"><name>Bob</name></user></users>
END
grep -o '<name>[^<]*' users.xml | sed 's/<name>//'
python3 -c 'import xml.etree.ElementTree as E; print([u.get("id") for u in E.parse("users.xml").getroot()])'
tr '>' '>\n' < users.xml | grep -c user
