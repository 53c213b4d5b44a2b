// Where people agree and disagree: a queue of verdicts, labels, and how far each layer agrees with people.
import { Button, Kbd, NativeSelect, TextInput } from "@mantine/core";
import { useEffect, useRef, useState, type FormEvent } from "react";
import { LAYERS, type Layer, type Schema } from "../api";
import { author, AuthorField, Cli, DataTable, Empty, Head, Items, LayerSelect, percent, Plain, Promote, Properties, request, RunLink, Sent, Shown, Time, useAnswer, useHours, useSend, type Column } from "../parts";
import { report } from "../answers";
import { addressWith, go, here, isTyping } from "../location";
import { Outcome, SHORT_LAYERS, StateMark } from "../state";

type Card = Schema["Waiting"];

export function Review() {
  const given = here().searchParams.get("layer") as Layer | null;
  const layer = given && LAYERS.includes(given) ? given : null;
  const hours = useHours();
  const assignee = here().searchParams.get("assignee");
  const queue = useAnswer<Schema["Queue"]>("review", { hours, ...(layer ? { layer } : {}), ...(assignee === null ? {} : { assignee }) });
  const agreement = useAnswer<Schema["AgreementPage"]>("agreement");
  const wrong = useAnswer<Schema["LabelList"]>("labels", { wrong: "true" });
  const [settled, setSettled] = useState<ReadonlySet<string>>(new Set());
  const [said, setSaid] = useState("");
  const status = useRef<HTMLDivElement>(null);
  const settle = (key: string, sentence: string) => {
    const next = new Set([...settled, key]);
    setSettled(next);
    setSaid(sentence);
    // The card that had the focus is gone: a keyboard goes on from here.
    status.current?.focus();
    agreement.reload?.();
    wrong.reload?.();
    // The queue is the first of what waits: there may be more.
    if (queue.value && !listCards(queue.value, next).length) queue.reload?.();
  };
  return (
    <>
      <Head title="Review">
        <span className="fields">
          <LayerSelect value={layer} choose={(next) => go(addressWith({ layer: next }))} every="every layer" />
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
            {(found) => <Cards queue={found} settled={settled} settle={settle} skip={(key) => setSettled(new Set([...settled, key]))} reload={queue.reload} />}
          </Shown>
        </section>
        <section>
          <h2>How far we agree with people</h2>
          <Shown loaded={agreement}>{(found) => <><Agreement layers={found.layers} /><Weeks weeks={found.weeks} /></>}</Shown>
          <h2 className="below">Where we are wrong</h2>
          <Shown loaded={wrong}>
            {(found) =>
              found.labels.length ? (
                <>
                  <Promote runs={found.labels.map(({ trace_id, run_span_id, project }) => ({ trace_id, run_span_id, project: project || undefined }))} label={`export ${found.labels.length} as cases`} />
                  <Items
                    items={found.labels.map((each) => (
                      <><RunLink trace={each.trace_id} run={each.run_span_id} project={each.project} /> {each.layer}: <Plain text={`${each.author} says ${each.verdict}, we said ${each.ours}. ${each.note}`} /></>
                    ))}
                  />
                </>
              ) : <p className="dim">No person disagrees with a verdict.</p>
            }
          </Shown>
        </section>
      </div>
      <Cli line={request(`review?${layer ? `layer=${layer}&` : ""}hours=${hours}`)} />
    </>
  );
}

/** The share of labels of each week that our verdicts agreed with, layer by layer. */
function Weeks({ weeks }: { weeks: Schema["WeekAgreement"][] }) {
  if (!weeks.length) return null;
  const starts = [...new Set(weeks.map((each) => each.start_ns))].slice(-12).reverse();
  return (
    <DataTable
      label="Agreement by week"
      rows={starts}
      columns={[
        ["week of", (start) => new Date(start / 1e6).toISOString().slice(0, 10)],
        ...LAYERS.map((layer): Column<number> => [SHORT_LAYERS[layer], (start) => {
          const agreed = weeks.find((each) => each.start_ns === start && each.layer === layer)?.agreed;
          return agreed ? `${agreed.part} of ${agreed.whole}` : "–";
        }, "heat"]),
      ]}
    />
  );
}

interface CardsParts {
  queue: Schema["Queue"];
  settled: ReadonlySet<string>;
  settle: (key: string, sentence: string) => void;
  skip: (key: string) => void;
  reload: () => void;
}

/** Choose a card with j and k; a, d and m press its buttons, s skips it. Returns the key of the card that is chosen. */
function useCardKeys(keys: string[], skip: (key: string) => void): string | null {
  const [chosen, choose] = useState<string | null>(null);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (isTyping(event) || event.metaKey || event.ctrlKey || event.altKey) return;
      const at = chosen === null ? -1 : keys.indexOf(chosen);
      const step = { j: 1, k: -1 }[event.key];
      if (step !== undefined) choose(keys[Math.min(keys.length - 1, Math.max(0, at + step))] ?? null);
      else if (at < 0) return;
      else if (["a", "d", "m"].includes(event.key)) {
        document.querySelector<HTMLButtonElement>(`.card[data-chosen] [data-key=${event.key}]`)?.click();
        if (event.key !== "m") choose(keys[at + 1] ?? keys[at - 1] ?? null);
      } else if (event.key === "s") {
        skip(chosen!);
        choose(keys[at + 1] ?? keys[at - 1] ?? null);
      }
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
  useEffect(() => {
    document.querySelector(".card[data-chosen]")?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  return chosen;
}

/** The queue without what was settled or skipped since it was loaded. */
function Cards({ queue, settled, settle, skip, reload }: CardsParts) {
  const cards = listCards(queue, settled);
  const chosen = useCardKeys(cards.map((card) => keyOf(card)), skip);
  if (!cards.length) return <Empty title="Nothing waits for a person here" />;
  return (
    <>
      <p className="dim">
        {cards.length} shown; <Kbd size="xs">j</Kbd> <Kbd size="xs">k</Kbd> choose one, <Kbd size="xs">a</Kbd> agrees, <Kbd size="xs">d</Kbd> disagrees, <Kbd size="xs">s</Kbd> skips, <Kbd size="xs">m</Kbd> takes it
      </p>
      {cards.map((card) => (
        <WaitingCard
          key={keyOf(card)}
          card={card}
          isChosen={keyOf(card) === chosen}
          settle={(sentence) => settle(keyOf(card), sentence)}
          reload={reload}
        />
      ))}
    </>
  );
}

function listCards(queue: Schema["Queue"], settled: ReadonlySet<string>): Card[] {
  return queue.waiting.filter((card) => !settled.has(keyOf(card)));
}

function keyOf({ trace_id, run_span_id, layer }: Card): string {
  return `${trace_id} ${run_span_id} ${layer}`;
}

interface WaitingParts {
  card: Card;
  isChosen: boolean;
  settle: (sentence: string) => void;
  reload: () => void;
}

const DAY_MS = 86_400_000;
const USUAL_DAYS = 7;

/** Who reviews a verdict and by when: taken with one button, or given to somebody. */
function AssignForm({ card, reload }: { card: Card; reload: () => void }) {
  const sending = useSend();
  const assign = (assignee: string, due_ns: number) => {
    const body = { trace_id: card.trace_id, run_span_id: card.run_span_id, project: card.project, layer: card.layer, assignee, due_ns, author: author() };
    sending.run<Schema["Assigned"]>("POST", "review/assignments", body, () => {
      reload();
      return "";
    });
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    // The end of the day, on the clock of the reader.
    const due = form.get("due") ? new Date(`${String(form.get("due"))}T23:59:59`).getTime() : 0;
    assign(String(form.get("assignee")), due * 1e6);
  };
  const isMine = card.assignee === author();
  return (
    <div className="badges">
      {card.assignee ? (
        <span>
          assigned to <Plain text={card.assignee} />
          {card.due_ns ? <>, due <span className={card.due_ns < Date.now() * 1e6 ? "verdict fail" : undefined}><Time ns={card.due_ns} /></span></> : null}
        </span>
      ) : <span className="dim">not assigned</span>}
      <Button size="compact-xs" data-key="m" disabled={sending.busy} onClick={() => (isMine ? assign("", 0) : assign(author(), (Date.now() + USUAL_DAYS * DAY_MS) * 1e6))}>
        {isMine ? "give it back" : "take it"}
      </Button>
      <details>
        <summary>assign</summary>
        <form className="fields" onSubmit={submit}>
          <TextInput label="to" name="assignee" required withAsterisk={false} pattern="[a-z0-9_]{1,50}" title="lower-case letters, digits and _" />
          <TextInput label="due" name="due" type="date" />
          <Button type="submit" disabled={sending.busy}>Assign</Button>
        </form>
      </details>
      {sending.error ? <Sent sending={sending} /> : null}
    </div>
  );
}

function WaitingCard({ card, isChosen, settle, reload }: WaitingParts) {
  const { outcome, layer, cause_words: cause, evidence: facts } = card;
  return (
    <section className="card" data-chosen={isChosen || undefined}>
      <div>
        <Outcome outcome={outcome} /> {layer} of <RunLink trace={card.trace_id} run={card.run_span_id} project={card.project} text={card.agent || "run"} />{" "}
        <span className="dim"><Plain text={card.release} /> <Time ns={card.started_ns} relative /></span>
      </div>
      <AssignForm card={card} reload={reload} />
      {card.task != null || card.answer != null ? (
        <Properties rows={[["task", <Plain text={card.task ?? "not on the trace"} />], ["answer", <Plain text={card.answer ?? "none on the trace"} />]]} />
      ) : null}
      <p><Plain text={outcome.explanation} /></p>
      {cause ? <p><StateMark state="open" /> <Plain text={`The ${cause}`} /></p> : null}
      {facts.length ? (
        <details>
          <summary>evidence, {facts.length} {facts.length === 1 ? "fact" : "facts"}</summary>
          <Items
            items={facts.map((fact) => (
              <>
                <Plain text={fact.what} />
                {[fact.recorded, fact.replayed].map((text, index) => (text ? <div key={index} className="dim"><Plain text={text} /></div> : null))}
              </>
            ))}
          />
        </details>
      ) : null}
      <Judge trace={card.trace_id} project={card.project} run={card.run_span_id} layer={layer} ours={outcome.state ?? outcome.verdict} sentences={card.sentences} onDone={(said) => settle(`${said} That settles ${layer} of ${card.agent || "the run"}.`)} />
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
  onDone?: (said: string) => void;
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
      onDone?.(said);
      return said;
    });
  };
  if (report) return null;
  const isJudged = ours === "pass" || ours === "fail";
  const [first, second] = ours === "fail" ? (["fail", "pass"] as const) : (["pass", "fail"] as const);
  return (
    <>
      {sentences.length ? (
        <Properties
          rows={sentences.map(({ start, text, bindings }) => [
            <NativeSelect
              aria-label={`ruling on: ${text}`}
              value={rulings[start] ?? ""}
              data={RULINGS}
              onChange={(event) => setRulings({ ...rulings, [start]: event.currentTarget.value })}
            />,
            <><Plain text={text} />{bindings.map((each) => <div key={each} className="dim"><Plain text={each} /></div>)}</>,
          ])}
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
  if (!layers.length) return <p className="dim">No verdict was judged by a person yet: agree or disagree with one.</p>;
  const share = (each: Schema["Share"]) => (
    <span title={each.low === null ? undefined : `95 % interval ${percent(each.low)} to ${percent(each.high)}`}>
      {percent(each.share)} <span className="dim">{each.part} of {each.whole}</span>
    </span>
  );
  return (
    <DataTable
      label="Agreement"
      rows={layers}
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
