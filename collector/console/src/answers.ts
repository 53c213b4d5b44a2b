// A page that was written as one file holds one view and the answers it needs; it asks nothing of a server.

interface Report {
  route: string;
  answers: Record<string, unknown>;
}

const element = document.getElementById("report");

/** What this page was written with; null where it is the console itself. */
export const report: Report | null = element ? (JSON.parse(element.textContent ?? "") as Report) : null;
