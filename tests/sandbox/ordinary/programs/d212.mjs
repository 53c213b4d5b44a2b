import { URL, URLSearchParams } from "node:url";

const url = new URL("https://shop.example.com:8443/search?q=tea%20pot&page=2#top");
url.searchParams.set("page", "3");
url.searchParams.append("sort", "price");
console.log(url.host, url.pathname, url.hash, url.href);
console.log([...new URLSearchParams("a=1&b=2&a=3").getAll("a")], encodeURIComponent("a b/c&d"));
try {
  new URL("not a url");
} catch (error) {
  console.log(error.code);
}
