// What begins before the kit is read: the styles, and the answer that the first view waits for.
import "./fonts.css";
import { askEarly } from "./api";
import { OVERVIEW_HOURS, type Parameters } from "./query";
import "./style.css";

const { pathname, search } = window.location;
const given = new URLSearchParams(search);
const project = given.get("project");
const ofProject: Parameters = project === null ? {} : { project };
if (pathname === "/") askEarly("overview", { hours: given.get("hours") || OVERVIEW_HOURS, ...ofProject });
if (/^\/traces\/./.test(pathname) && !given.has("step")) askEarly(pathname.slice(1), ofProject);

void import("./console");
