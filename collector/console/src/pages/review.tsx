// Where people agree and disagree: a queue of verdicts, labels, and how far each layer agrees with people.
import { Button, Kbd, NativeSelect, TextInput } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { LAYERS, type Layer, type Schema } from "../api";
import { author, AuthorField, between, Cli, DataTable, Empty, Explanation, Form, Head, Items, LayerSelect, percent, Plain, Promote, Properties, request, RunLink, Sent, Shown, Time, useAnswer, useHours, useKeys, useSend, type Column } from "../parts";
import { report } from "../answers";
import { addressWith, getParameter, go } from "../location";
import { Outcome, SHORT_LAYERS, StateMark } from "../state";

type Card = Schema["Waiting"];

export function Review() {
  const layer = LAYERS.find((each) => each === getParameter("layer"));
  const hours = useHours();
  const assignee = getParameter("assignee");
  const queue = useAnswer<Schema["Queue"]>("review", { hours, ...(layer ? { layer } : {}), ...(assignee === null ? {} : { assignee }) });
  const agreement = useAnswer<Schema["AgreementPage"]>("agreement");
  const wrong = useAnswer<Schema["LabelList"]>("labels", { wrong: "true" });
  // Cards that were settled or skipped since the queue was loaded.
  const [settled, setSettled] = useState<ReadonlySet<string>>(new Set());
  const [said, setSaid] = useState("");
  const status = useRef<HTMLDivElement>(null);
  const cards = queue.value?.waiting.filter((card) => !settled.has(keyOf(card))) ?? [];
  const skip = (key: string) => setSettled(new Set([...settled, key]));
  const settle = (key: string, sentence: string) => {
    skip(key);
    setSaid(sentence);
    // The card that had the focus is gone: a keyboard goes on from here.
    status.current?.focus();
    agreement.reload();
    wrong.reload();
    // The queue is the first of what waits: there may be more.
    if (cards.every((card) => keyOf(card) === key)) queue.reload();
  };
  const chosen = useCardKeys(cards.map(keyOf), skip);
  return (
    <>
      <Head title="Review">
        <span className="fields">
          <LayerSelect every="every layer" />
          <Button aria-pressed={assignee !== null} onClick={() => go(addressWith({ assignee: assignee === null ? author() : null }))}>
            {assignee === null ? "assigned to me" : `assigned to ${assignee}`}
          </Button>
          <AuthorField />
        </span>
      </Head>
      <div className="columns">
        <section>
          <h2>Waiting for a person{queue.value?.total ? `: ${queue.value.total.toLocaleString("en")}${queue.value.more ? " and more" : ""}, open first` : ""}</h2>
          <div role="status" tabIndex={-1} ref={status} className={said ? "notice" : undefined}><Plain text={said} /></div>
          <Shown loaded={queue}>
            {() => (cards.length ? (
              <>
                <p className="dim">
                  {cards.length} shown; <Kbd size="xs">j</Kbd> <Kbd size="xs">k</Kbd> choose one, <Kbd size="xs">a</Kbd> agrees, <Kbd size="xs">d</Kbd> disagrees, <Kbd size="xs">s</Kbd> skips, <Kbd size="xs">m</Kbd> takes it
                </p>
                {cards.map((card) => <WaitingCard key={keyOf(card)} card={card} isChosen={keyOf(card) === chosen} settle={settle} reload={queue.reload} />)}
              </>
            ) : <Empty title="Nothing waits for a person here" />)}
          </Shown>
        </section>
        <section>
          <h2>How far we agree with people</h2>
          <Shown loaded={agreement}>{(found) => <><Agreement layers={found.layers} /><Weeks weeks={found.weeks} /></>}</Shown>
          <h2 className="below">Where we are wrong</h2>
          <Shown loaded={wrong}>
            {({ labels }) => (labels.length ? (
              <>
                <Promote runs={labels.map(({ trace_id, run_span_id, project }) => ({ trace_id, run_span_id, project: project || undefined }))} label={`export ${labels.length} as cases`} />
                <Items
                  items={labels.map((each) => (
                    <><RunLink trace={each.trace_id} run={each.run_span_id} project={each.project} /> {each.layer}: <Plain text={`${each.author} says ${each.verdict}, we said ${each.ours}. ${each.note}`} /></>
                  ))}
                />
              </>
            ) : <p className="dim">No person disagrees with a verdict.</p>)}
          </Shown>
        </section>
      </div>
      <Cli line={request(`review?${layer ? `layer=${layer}&` : ""}hours=${hours}`)} />
    </>
  );
}

/** The share of labels of each week that our verdicts agreed with, layer by layer. */
function Weeks({ weeks }: { weeks: Schema["WeekAgreement"][] }) {
  const agreed = (start: number, layer: Layer) => weeks.find((each) => each.start_ns === start && each.layer === layer)?.agreed;
  return (
    <DataTable
      label="Agreement by week"
      rows={[...new Set(weeks.map((each) => each.start_ns))].slice(-12).reverse()}
      empty={<></>}
      columns={[
        ["week of", (start) => new Date(start / 1e6).toISOString().slice(0, 10)],
        ...LAYERS.map((layer): Column<number> => [SHORT_LAYERS[layer], (start) => {
          const share = agreed(start, layer);
          return share ? `${share.part} of ${share.whole}` : "–";
        }, "heat"]),
      ]}
    />
  );
}

/** Choose a card with j and k; a, d and m press its buttons, s skips it. Returns the key of the card that is chosen. */
function useCardKeys(keys: string[], skip: (key: string) => void): string | null {
  const [chosen, choose] = useState<string | null>(null);
  const at = chosen === null ? -1 : keys.indexOf(chosen);
  const move = (step: number) => choose(keys[Math.min(keys.length - 1, Math.max(0, at + step))] ?? null);
  const leave = () => choose(keys[at + 1] ?? keys[at - 1] ?? null);
  const press = (key: string) => document.querySelector<HTMLButtonElement>(`.card[data-chosen] [data-key=${key}]`)?.click();
  const pressAndLeave = ({ key }: KeyboardEvent) => {
    if (at < 0) return;
    press(key);
    leave();
  };
  const skipChosen = () => {
    if (at < 0) return;
    skip(chosen!);
    leave();
  };
  useKeys({ j: () => move(1), k: () => move(-1), a: pressAndLeave, d: pressAndLeave, m: () => press("m"), s: skipChosen });
  useEffect(() => void document.querySelector(".card[data-chosen]")?.scrollIntoView({ block: "nearest" }), [chosen]);
  return chosen;
}

function keyOf({ trace_id, run_span_id, layer }: Card): string {
  return `${trace_id} ${run_span_id} ${layer}`;
}

const DAY_MS = 86_400_000;
const USUAL_DAYS = 7;

/** Who reviews a verdict and by when: taken with one button, or given to somebody. */
function AssignForm({ card, reload }: { card: Card; reload: () => void }) {
  const sending = useSend(reload);
  const { trace_id, run_span_id, project, layer } = card;
  const assign = (assignee: string, dueMs: number) =>
    sending.run<Schema["Assigned"]>("POST", "review/assignments", { trace_id, run_span_id, project, layer, assignee, due_ns: dueMs * 1e6, author: author() }, () => "");
  // The end of the day, on the clock of the reader.
  const submit = ({ assignee, due }: Record<string, string>) => assign(assignee!, due ? new Date(`${due}T23:59:59`).getTime() : 0);
  const isMine = card.assignee === author();
  return (
    <div className="badges">
      {card.assignee ? (
        <span>
          assigned to <Plain text={card.assignee} />
          {card.due_ns ? <>, due <span className={card.due_ns < Date.now() * 1e6 ? "verdict fail" : undefined}><Time ns={card.due_ns} /></span></> : null}
        </span>
      ) : <span className="dim">not assigned</span>}
      <Button size="compact-xs" data-key="m" disabled={sending.busy} onClick={() => (isMine ? assign("", 0) : assign(author(), Date.now() + USUAL_DAYS * DAY_MS))}>
        {isMine ? "give it back" : "take it"}
      </Button>
      <details>
        <summary>assign</summary>
        <Form className="fields" submit={submit}>
          <TextInput label="to" name="assignee" required pattern="[a-z0-9_]{1,50}" title="lower-case letters, digits and _" />
          <TextInput label="due" name="due" type="date" />
          <Button type="submit" disabled={sending.busy}>Assign</Button>
        </Form>
      </details>
      {sending.error ? <Sent sending={sending} /> : null}
    </div>
  );
}

interface WaitingParts {
  card: Card;
  isChosen: boolean;
  settle: (key: string, sentence: string) => void;
  reload: () => void;
}

function WaitingCard({ card, isChosen, settle, reload }: WaitingParts) {
  const { outcome, layer, cause_words: cause, evidence: facts } = card;
  const done = (said: string) => settle(keyOf(card), `${said} That settles ${layer} of ${card.agent || "the run"}.`);
  const shown = facts.map(({ what, recorded, replayed }) => (
    <>
      <Plain text={what} />
      {[recorded, replayed].map((text, index) => (text ? <div key={index} className="dim"><Plain text={text} /></div> : null))}
    </>
  ));
  return (
    <section className="card" data-chosen={isChosen || undefined}>
      <div>
        <Outcome outcome={outcome} /> {layer} of <RunLink trace={card.trace_id} run={card.run_span_id} project={card.project} text={card.agent || "run"} />{" "}
        <span className="dim"><Plain text={card.release} /> <Time ns={card.started_ns} relative /></span>
      </div>
      <AssignForm card={card} reload={reload} />
      {card.task != null || card.answer != null ? (
        <Properties rows={[["task", card.task ?? "not on the trace"], ["answer", card.answer ?? "none on the trace"]]} />
      ) : null}
      <p><Explanation text={outcome.explanation} /></p>
      {cause ? <p><StateMark state="open" /> <Plain text={`The ${cause}`} /></p> : null}
      {facts.length ? <details><summary>evidence, {facts.length} {facts.length === 1 ? "fact" : "facts"}</summary><Items items={shown} /></details> : null}
      <Judge trace={card.trace_id} project={card.project} run={card.run_span_id} layer={layer} ours={outcome.state ?? outcome.verdict} sentences={card.sentences} onDone={done} />
    </section>
  );
}

interface JudgeParts {
  trace: string;
  project?: string;
  run: string;
  layer: Layer;
  ours: string;
  /** Those of the answer that are open, each of which a person may rule on. */
  sentences?: Schema["WaitingSentence"][];
  onDone: (said: string) => void;
}

const RULINGS = [{ value: "", label: "no ruling" }, "true", "false", "unknown"];

/** Agree or disagree with a verdict, with rulings on its open sentences, a note and the right answer. */
export function Judge({ trace, project, run, layer, ours, sentences = [], onDone }: JudgeParts) {
  const sending = useSend();
  const [rulings, setRulings] = useState<Record<number, string>>({});
  const [note, setNote] = useState("");
  const [correction, setCorrection] = useState("");
  const label = (verdict: "pass" | "fail") => {
    const ruled = sentences.filter(({ start }) => rulings[start]).map(({ start, end }) => ({ start, end, ruling: rulings[start] }));
    const body = { trace_id: trace, project, run_span_id: run, layer, verdict, note, correction: correction || null, author: author(), sentences: ruled };
    sending.run<Schema["PersonsLabel"]>("POST", "labels", body, (answer) => {
      const said = `${answer.author} says ${answer.verdict}.`;
      onDone(said);
      return said;
    });
  };
  if (report) return null;
  const isJudged = ours === "pass" || ours === "fail";
  const [first, second] = ours === "fail" ? (["fail", "pass"] as const) : (["pass", "fail"] as const);
  const ruling = ({ start, text }: Schema["WaitingSentence"]) => (
    <NativeSelect
      aria-label={`ruling on: ${text}`}
      value={rulings[start] ?? ""}
      data={RULINGS}
      onChange={(event) => setRulings({ ...rulings, [start]: event.currentTarget.value })}
    />
  );
  return (
    <>
      {sentences.length ? (
        <Properties
          rows={sentences.map((each) => [ruling(each), <><Plain text={each.text} />{each.bindings.map((one) => <div key={one} className="dim"><Plain text={one} /></div>)}</>])}
        />
      ) : null}
      <div className="badges">
        <Button data-key="a" disabled={sending.busy} onClick={() => label(first)}>{isJudged ? "agree" : first}</Button>
        <Button data-key="d" disabled={sending.busy} onClick={() => label(second)}>{isJudged ? `disagree: ${second}` : second}</Button>
        <details>
          <summary>note, correction</summary>
          <div className="stack">
            <TextInput label="note" value={note} onChange={(event) => setNote(event.currentTarget.value)} />
            <TextInput label="right answer" value={correction} onChange={(event) => setCorrection(event.currentTarget.value)} />
          </div>
        </details>
      </div>
      <Sent sending={sending} />
    </>
  );
}

function Agreement({ layers }: { layers: Schema["LayerAgreement"][] }) {
  const share = ({ share, part, whole, low, high }: Schema["Share"]) => <span title={between(low, high)}>{percent(share)} <span className="dim">{part} of {whole}</span></span>;
  return (
    <DataTable
      label="Agreement"
      rows={layers}
      empty="No verdict was judged by a person yet: agree or disagree with one."
      columns={[
        ["layer", (each) => each.layer],
        ["labels", (each) => each.labelled, "heat"],
        ["precision", (each) => share(each.precision), "heat"],
        ["recall", (each) => share(each.recall), "heat"],
        ["kappa", ({ kappa, kappa_low: low, kappa_high: high }) => (
          <>{kappa === null ? "–" : kappa.toFixed(2)}<div className="dim">{low === null ? "" : `${low.toFixed(2)} to ${(high ?? 1).toFixed(2)}`}</div></>
        ), "heat"],
      ]}
    />
  );
}
