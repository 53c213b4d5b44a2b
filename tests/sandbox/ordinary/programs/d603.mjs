const routes = [];
const route = (method, pattern, handler) =>
  routes.push({ method, regex: new RegExp(`^${pattern.replace(/:(\w+)/g, "(?<$1>[^/]+)")}$`), handler });
route("GET", "/users/:id", ({ id }) => `user ${id}`);
route("DELETE", "/users/:id/posts/:post", (p) => JSON.stringify({ ...p }));
const dispatch = (method, path) => {
  for (const { method: m, regex, handler } of routes) {
    const match = m === method && path.match(regex);
    if (match) return handler(match.groups);
  }
  return "404";
};
for (const [method, path] of [["GET", "/users/7"], ["DELETE", "/users/7/posts/3"], ["POST", "/users"]]) console.log(method, path, "->", dispatch(method, path));
