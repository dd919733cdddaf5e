import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { type NodeClient, openConnections, type Query, type ServerConnection } from './connections.ts';
import { createReader, type Meaning, type WatchedTable } from './meaning.ts';
import type { Rings } from './rings.ts';
import type { Participant, Scheduler } from './scheduler.ts';
import type { Seeded } from './seeded.ts';

/** A statement that was sent to the server. */
interface Sent {
  readonly order: number;
  readonly by: Participant;
  readonly label: string;
  readonly client: NodeClient;
  /** The process of the server. 0 until it is there. */
  pid: number;
  deliver: () => void;
  isDone: boolean;
  /** Resolves when it is done. */
  readonly ended: Promise<void>;
}

/** The statements of all nodes of a run. Each is sent when the seed says so, and the next one only after its end. */
export interface Driver {
  /** All connections with this application name belong to the participant. */
  adopt(applicationName: string, by: Participant): void;
  /** Waits until nothing runs by itself: each statement has ended or waits for a lock, each connection is open. */
  settle(): Promise<void>;
  /** Real work without a statement that the scheduler must wait for. */
  busy<T>(work: Promise<T>): Promise<T>;
  /** Ends the connections of a name, as the server does after a crash of its client or by an operator's command. */
  cut(applicationName: string): Promise<void>;
  /** The tables that commits may have changed since the last call. */
  takeChanged(): ReadonlySet<WatchedTable>;
  /** Calls the listener with every notification that was sent. */
  onNotification(listener: (channel: string, payload: string) => void): void;
  close(): Promise<void>;
}

export interface DriverInput {
  readonly url: string;
  readonly scheduler: Scheduler;
  readonly random: Seeded;
  readonly rings: Rings;
  /** Alters statements, for a mutant. */
  readonly alter?: ((text: string) => string) | undefined;
}

/** Most statements end within this time. The server is asked about those that do not: is it a lock that they wait for? */
const PATIENCE_MS = 20;
/** A statement that has waited for a lock ends within this time if it has got the lock. Else the server is asked. */
const MOVES_WITHIN_MS = 2;
/** The server answers the observer within milliseconds, unless a stopped process holds what it needs. */
const SILENCE_MS = 1_000;
/** An answer of the server may arrive later than others: so a crash can come between a commit and its answer. */
const LATE_ANSWER = 0.06;

/** The effects of a transaction so far. */
interface OpenTransaction {
  readonly changed: Set<WatchedTable>;
  /** True if the server has begun it. */
  isBegun: boolean;
  hasEvents: boolean;
  /** True if it has locked a lease. The server lets those who wait for a lease go on in no fixed order, so it is not slow. */
  hasLease: boolean;
}

export async function openDriver({ url, scheduler, random, rings, alter = same }: DriverInput): Promise<Driver> {
  const connections = openConnections();
  // Connections of the simulation itself: one asks about locks, one hears notifications.
  const [observer, ear] = [new pg.Client(url), new pg.Client(url)];
  await Promise.all([observer.connect(), ear.connect()]);
  // A connection that breaks fails the next question to it.
  for (const client of [observer, ear]) client.on('error', () => {});
  await ear.query('listen till_outbox; listen till_events; listen till_webhooks');
  const names = new Map<string, Participant>();
  const sent = new Set<Sent>();
  const transactions = new Map<NodeClient, OpenTransaction>();
  let order = 0;
  let working = 0;
  let mayHaveMoved = false;
  let hasNotified = false;
  const changed = new Set<WatchedTable>();
  const meaningOf = createReader(alter);

  function gate(by: Participant, client: NodeClient, query: Query): Promise<pg.QueryResult> {
    const meaning = meaningOf(query.text);
    return new Promise((resolve, reject) => {
      // A transaction takes nothing before its first statement: its beginning is no step.
      if (query.text === 'begin' && by.isAlive) begin(resolve, reject);
      else scheduler.ready(by, meaning.label, () => begin(resolve, reject), isPrompt(client));
    });

    function begin(resolve: (result: pg.QueryResult) => void, reject: (error: unknown) => void): void {
      order += 1;
      const { promise: ended, resolve: onEnd } = Promise.withResolvers<void>();
      const { label } = meaning;
      const statement: Sent = { order, by, label, client, pid: 0, isDone: false, ended, deliver: () => {} };
      const end = (deliver: () => void) => {
        Object.assign(statement, { isDone: true, deliver });
        // Those that wait for others go on waiting.
        mayHaveMoved ||= parked.has(statement) || blocking.has(statement.pid);
        onEnd();
      };
      sent.add(statement);
      if (!isOfServer() && connections.isOpen(client)) answer(emptyResult(query.text));
      else {
        const connection = connections.lend(client, query.name);
        if (connection instanceof Promise) void busy(connection.then(sendOn));
        else sendOn(connection);
      }

      /** The server begins a transaction at its first statement. */
      function isOfServer(): boolean {
        if (query.text === 'begin') return false;
        const isEnd = query.text === 'commit' || query.text === 'rollback';
        return !isEnd || transactions.get(client)?.isBegun !== false;
      }

      function sendOn({ pid }: ServerConnection): void {
        statement.pid = pid;
        // It may have broken while one of the server was being opened.
        if (!connections.isOpen(client)) connections.giveBack(client);
        const mayRelease = meaning.releases || !transactions.has(client);
        if (mayRelease && blocking.has(pid)) holdBack();
        const open = transactions.get(client);
        const isFirst = open?.isBegun === false;
        if (open !== undefined) open.isBegun = true;
        const altered = meaning.text === query.text ? query : { ...query, text: meaning.text };
        connections.send(client, altered, isFirst).then(answer, (error: unknown) => {
          follow(client, meaning);
          end(() => reject(error));
        });
      }

      function answer(result: pg.QueryResult): void {
        const hasAppended = follow(client, meaning) && result.command !== 'ROLLBACK';
        end(() => {
          if (hasAppended) rings.owe(by);
          resolve(result);
        });
      }
    }
  }

  const isPrompt = (client: NodeClient) => transactions.get(client)?.hasLease ?? false;

  /** Follows the transaction of a connection. Returns true if the statement has committed events. */
  function follow(client: NodeClient, { text, ...meaning }: Meaning): boolean {
    if (meaning.notifies) hasNotified = true;
    if (text === 'begin') {
      transactions.set(client, { changed: new Set(), isBegun: false, hasEvents: false, hasLease: false });
      return false;
    }
    const open = transactions.get(client) ?? { changed: new Set(), isBegun: true, hasEvents: false, hasLease: false };
    for (const table of meaning.changes) open.changed.add(table);
    open.hasEvents ||= meaning.appendsEvents;
    open.hasLease ||= meaning.locksLease;
    const isCommitted = text === 'commit' || !transactions.has(client);
    if (text === 'commit' || text === 'rollback') transactions.delete(client);
    if (isCommitted) for (const table of open.changed) changed.add(table);
    return isCommitted && open.hasEvents;
  }

  async function busy<T>(work: Promise<T>): Promise<T> {
    working += 1;
    try {
      return await work;
    } finally {
      working -= 1;
    }
  }

  async function settle(): Promise<void> {
    for (;;) {
      await turns();
      while (working > 0 || connections.areOpening()) {
        connections.finishOpening();
        await nextTurn();
      }
      if (!(await haveStopped())) continue;
      const next = heldBack.shift();
      if (next !== undefined) {
        process.kill(next.pid, 'SIGCONT');
        mayHaveMoved = true;
        continue;
      }
      if (hasNotified) {
        hasNotified = false;
        // The server delivers notifications of earlier commits before it answers.
        await ear.query('select 1');
        continue;
      }
      const done = [...sent].filter(({ isDone }) => isDone).sort((a, b) => a.order - b.order);
      if (done.length === 0) return;
      for (const statement of done) hand(statement);
    }
  }

  /** True if each statement that was sent has ended, waits for a lock, or is held back. */
  async function haveStopped(): Promise<boolean> {
    const waiting = () => [...sent].filter((each) => !each.isDone && !heldBack.includes(each));
    const running = waiting().filter((each) => !parked.has(each));
    if (running.length > 0) await endWithin(running, PATIENCE_MS);
    const isRunning = running.some(({ isDone }) => !isDone);
    if (!isRunning && !mayHaveMoved) return true;
    mayHaveMoved = false;
    const open = waiting();
    return open.length === 0 || areParked(open);
  }

  const parked = new Set<Sent>();
  /** The processes that parked statements wait for. */
  let blocking: ReadonlySet<number> = new Set();
  /** Statements that wait for locks, and whose processes are stopped until the ones before them go on or wait again. */
  const heldBack: Sent[] = [];

  /**
   * Lets statements that wait for locks go on one after the other: the server would wake them in no fixed order. Those of a
   * participant that is cut off end at once, and those of a dead one have ended.
   */
  function holdBack(cutOff?: Participant): void {
    const isWaiting = (each: Sent) => each.by.isAlive && each.by !== cutOff && !heldBack.includes(each);
    const waiting = [...parked].filter(isWaiting);
    waiting.sort((a, b) => a.order - b.order);
    for (const each of waiting.slice(heldBack.length === 0 ? 1 : 0)) {
      process.kill(each.pid, 'SIGSTOP');
      heldBack.push(each);
    }
  }

  /** A process that was stopped in the server's search for deadlocks keeps everybody from the table of locks. It ends the search. */
  async function stirHeldBack(): Promise<void> {
    for (const { pid } of heldBack) process.kill(pid, 'SIGCONT');
    await pause(MOVES_WITHIN_MS);
    for (const { pid } of heldBack) process.kill(pid, 'SIGSTOP');
  }

  /** Gives the answer to the node, at once or as a later step. */
  function hand(statement: Sent): void {
    sent.delete(statement);
    if (!transactions.has(statement.client)) connections.giveBack(statement.client);
    const wasParked = parked.delete(statement);
    if (!statement.by.isAlive) return;
    if (statement.label !== 'begin' && (wasParked || random.chance(LATE_ANSWER))) {
      scheduler.ready(
        statement.by,
        `the answer arrives: ${statement.label}`,
        statement.deliver,
        isPrompt(statement.client),
      );
    } else if (statement.by.pausedUntilMs > scheduler.nowMs()) {
      scheduler.ready(statement.by, `the answer arrives: ${statement.label}`, statement.deliver);
    } else statement.deliver();
  }

  /** True if each of these statements waits for a lock, and not in a circle, which the server breaks by itself. */
  async function areParked(open: readonly Sent[]): Promise<boolean> {
    await endWithin(open, MOVES_WITHIN_MS);
    const waiting = open.filter(({ isDone }) => !isDone);
    if (waiting.length === 0) return false;
    const asked = observer.query<{ pid: number; by: number[] }>(
      'select pid, pg_blocking_pids(pid) as by from unnest($1::int[]) as pid',
      [waiting.map(({ pid }) => pid)],
    );
    let isAnswered = false;
    void asked.finally(() => (isAnswered = true)).catch(() => {});
    while (!isAnswered) {
      await Promise.race([asked, pause(SILENCE_MS)]);
      if (!isAnswered) await stirHeldBack();
    }
    const { rows } = await asked;
    // Commits with a notification wait for those of other databases, and tables for the server's own jobs: for a moment only.
    const holders = [...transactions.keys()].map((client) => connections.lent(client)?.pid);
    const pids = new Set([...holders, ...waiting.map(({ pid }) => pid)]);
    const blockers = new Map(rows.map(({ pid, by }) => [pid, by.filter((each) => pids.has(each))]));
    const isBlocked = ({ pid }: Sent) => (blockers.get(pid)?.length ?? 0) > 0 && !isInCircle(blockers, pid);
    if (waiting.some((each) => each.isDone || !isBlocked(each))) {
      mayHaveMoved = true;
      return false;
    }
    blocking = new Set([...blockers.values()].flat());
    for (const each of waiting) {
      if (!parked.has(each)) scheduler.note(`${each.by.name}: waits for a lock: ${each.label}`);
      parked.add(each);
    }
    return open.length === waiting.length;
  }

  const listeners: ((channel: string, payload: string) => void)[] = [];
  ear.on('notification', ({ channel, payload = '' }) => {
    for (const listener of listeners) listener(channel, payload);
  });

  const letGo = () => {
    for (const { pid } of heldBack.splice(0)) process.kill(pid, 'SIGCONT');
  };
  // A stopped process of the server would outlive it.
  process.on('exit', letGo);

  return {
    adopt(applicationName, by) {
      names.set(applicationName, by);
      connections.adopt(applicationName, (client, query) => gate(by, client, query));
    },
    settle,
    busy,
    async cut(applicationName) {
      const by = names.get(applicationName);
      holdBack(by);
      await connections.cut(applicationName, async (pids) => {
        await observer.query('select pg_terminate_backend(pid) from unnest($1::int[]) as pid', [pids]);
        // A process that an earlier statement has stopped takes the signal when it goes on.
        for (const each of heldBack.filter((held) => held.by === by)) {
          heldBack.splice(heldBack.indexOf(each), 1);
          process.kill(each.pid, 'SIGCONT');
        }
        for (let left = 1; left > 0; ) {
          const { rows } = await observer.query<{ count: number }>(
            'select count(*)::int as count from pg_stat_activity where pid = any($1::int[])',
            [pids],
          );
          left = rows[0]?.count ?? 0;
        }
      });
      for (const client of transactions.keys()) {
        if (client.connectionParameters.application_name === applicationName) transactions.delete(client);
      }
      mayHaveMoved = true;
    },
    takeChanged() {
      const taken = new Set(changed);
      changed.clear();
      return taken;
    },
    onNotification: (listener) => void listeners.push(listener),
    async close() {
      process.off('exit', letGo);
      letGo();
      await Promise.all([connections.close(), observer.end(), ear.end()]);
    },
  };
}

/** Lets all promises that are ready go on. Nothing of a node waits for more turns of the event loop than this. */
function turns(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(() => setImmediate(resolve))));
}

/** Resolves when these statements have ended, or after this time. */
function endWithin(statements: readonly Sent[], ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void Promise.all(statements.map(({ ended }) => ended)).then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function isInCircle(blockers: ReadonlyMap<number, readonly number[]>, pid: number): boolean {
  const seen = new Set<number>();
  const ahead = [...(blockers.get(pid) ?? [])];
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    if (next === pid) return true;
    if (seen.has(next)) continue;
    seen.add(next);
    ahead.push(...(blockers.get(next) ?? []));
  }
  return false;
}

const same = (text: string) => text;

/** The answer to the beginning or the end of a transaction in which nothing happens. */
function emptyResult(text: string): pg.QueryResult {
  return { command: text.toUpperCase(), rowCount: null, oid: 0, rows: [], fields: [] };
}
