import { fileURLToPath, pathToFileURL, URL, URLSearchParams } from "node:url";
import querystring from "node:querystring";

const url = new URL("https://user:pw@example.com:8443/a/b%20c?x=1&y=two&x=3#frag");
console.log(url.hostname, url.port, url.pathname, url.hash);
console.log(url.searchParams.getAll("x"), url.searchParams.get("y"));
url.searchParams.append("z", "a&b");
url.searchParams.delete("x");
url.password = "";
url.port = "443";
console.log(url.href);
console.log(new URL("../up?q#f", "https://example.com/one/two/three").href);
console.log(pathToFileURL("/tmp/with space#1.txt").href, fileURLToPath("file:///a/b.txt"));
console.log(new URLSearchParams([["b", "2"], ["a", "1"]]).toString());
console.log({ ...querystring.parse("k=v&k=w&empty=") });
console.log(URL.canParse("nonsense"), encodeURIComponent("ä/ö"));
