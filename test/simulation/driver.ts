import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import type { Rings } from './rings.ts';
import type { Participant, Scheduler } from './scheduler.ts';
import type { Seeded } from './seeded.ts';

/** A statement as the driver sends it. */
interface Query {
  readonly text: string;
  readonly values?: unknown[];
  readonly name?: string | undefined;
}

type Send = (this: pg.Client, query: Query, ...rest: unknown[]) => Promise<pg.QueryResult>;
type Connect = (this: pg.Client, done?: (error: Error | null) => void) => Promise<void> | undefined;
type NodeClient = pg.Client & {
  readonly processID: number;
  readonly connectionParameters: { readonly application_name?: string };
};

interface Opening {
  finish: (() => void) | undefined;
}

/** A statement that was sent to the server. */
interface Sent {
  readonly order: number;
  readonly by: Participant;
  readonly label: string;
  readonly pid: number;
  readonly deliver: () => void;
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

const PATIENCE_MS = 2;
/** The server answers the observer within milliseconds, unless a stopped process holds what it needs. */
const SILENCE_MS = 1_000;
/** An answer of the server may arrive later than others: so a crash can come between a commit and its answer. */
const LATE_ANSWER = 0.06;
/** The tables that invariants are about. */
const WATCHED_TABLES = [
  'payments',
  'items',
  'events',
  'event_batches',
  'outgoing',
  'refunds',
  'sends',
  'chain_cursors',
] as const;
export type WatchedTable = (typeof WATCHED_TABLES)[number];
const CHANGES = new RegExp(`\\b(?:insert into|update|delete from)\\s+(${WATCHED_TABLES.join('|')})\\b`, 'g');

const LOCKS_LEASE = /\bleases\b/;
const APPENDS_EVENTS = /\binsert into outbox\b/;

/** The effects of a transaction so far. */
interface OpenTransaction {
  readonly changed: Set<WatchedTable>;
  hasEvents: boolean;
  /** True if it has locked a lease. The server lets those who wait for a lease go on in no fixed order, so it is not slow. */
  hasLease: boolean;
}

const drivers = new Map<string, (client: NodeClient, query: Query, send: Send) => Promise<pg.QueryResult>>();
/** The open connections of each name. */
const clients = new Map<string, Set<pg.Client>>();
/** Connections that are being opened. They become usable in the order in which they were asked for. */
const openings: Opening[] = [];
let isHooked = false;

/**
 * Puts the simulation between the gateway and the PostgreSQL driver, for connections that a run has adopted. The
 * gateway opens its pools by itself, so the hook is on the driver's class.
 */
function hookDriver(): void {
  if (isHooked) return;
  isHooked = true;
  const prototype = pg.Client.prototype as unknown as { query: Send; connect: Connect };
  const { query: send, connect } = prototype;
  prototype.query = function (query, ...rest) {
    const client = this as NodeClient;
    const gate = drivers.get(client.connectionParameters.application_name ?? '');
    return gate === undefined ? send.call(this, query, ...rest) : gate(client, query, send);
  };
  prototype.connect = function (done) {
    const own = clients.get((this as NodeClient).connectionParameters.application_name ?? '');
    if (done === undefined || own === undefined) return connect.call(this, done);
    const opening: Opening = { finish: undefined };
    openings.push(opening);
    // A crash may come before the pool has the connection and listens for its errors.
    this.on('error', () => {});
    this.once('end', () => void own.delete(this));
    return connect.call(this, (error) => {
      if (error === null) own.add(this);
      opening.finish = () => done(error);
    });
  };
}

export async function openDriver({ url, scheduler, random, rings, alter = same }: DriverInput): Promise<Driver> {
  hookDriver();
  // Connections of the simulation itself: one asks about locks, one hears notifications.
  const [observer, ear] = [new pg.Client(url), new pg.Client(url)];
  await Promise.all([observer.connect(), ear.connect()]);
  // A connection that breaks fails the next question to it.
  for (const client of [observer, ear]) client.on('error', () => {});
  await ear.query('listen till_outbox; listen till_events; listen till_webhooks');
  const names = new Map<string, Participant>();
  const sent = new Set<Sent>();
  /** By process. */
  const transactions = new Map<number, OpenTransaction>();
  let order = 0;
  let working = 0;
  let mayHaveMoved = false;
  let hasNotified = false;
  const changed = new Set<WatchedTable>();
  const changes = createChangeFinder();

  function gate(by: Participant, client: NodeClient, query: Query, send: Send): Promise<pg.QueryResult> {
    const label = labelOf(query.text);
    return new Promise((resolve, reject) => {
      // A transaction takes nothing before its first statement: its beginning is no step.
      if (query.text === 'begin' && by.isAlive) begin(resolve, reject);
      else scheduler.ready(by, label, () => begin(resolve, reject), isPrompt(client.processID));
    });

    function begin(resolve: (result: pg.QueryResult) => void, reject: (error: unknown) => void): void {
      const text = alter(withoutTimeout(query.text));
      order += 1;
      const { promise: ended, resolve: onEnd } = Promise.withResolvers<void>();
      const statement = { order, by, label, pid: client.processID, isDone: false, ended };
      const end = (deliver: () => void) => {
        Object.assign(statement, { isDone: true, deliver });
        mayHaveMoved = true;
        onEnd();
      };
      sent.add(statement as Sent);
      if (mayRelease(client.processID, text)) holdBack();
      send.call(client, { ...query, text }).then(
        (result) => {
          const hasAppended = follow(client.processID, text) && result.command !== 'ROLLBACK';
          end(() => {
            if (hasAppended) rings.owe(by);
            resolve(result);
          });
        },
        (error: unknown) => {
          follow(client.processID, text);
          end(() => reject(error));
        },
      );
    }
  }

  const isPrompt = (pid: number) => transactions.get(pid)?.hasLease ?? false;

  /** Follows the transaction of a connection. Returns true if the statement has committed events. */
  function follow(pid: number, text: string): boolean {
    if (text.includes('pg_notify')) hasNotified = true;
    if (text === 'begin') {
      transactions.set(pid, { changed: new Set(), hasEvents: false, hasLease: false });
      return false;
    }
    const open = transactions.get(pid) ?? { changed: new Set(), hasEvents: false, hasLease: false };
    for (const table of changes(text)) open.changed.add(table);
    open.hasEvents ||= APPENDS_EVENTS.test(text);
    open.hasLease ||= LOCKS_LEASE.test(text);
    const isCommitted = text === 'commit' || !transactions.has(pid);
    if (text === 'commit' || text === 'rollback') transactions.delete(pid);
    if (isCommitted) for (const table of open.changed) changed.add(table);
    return isCommitted && open.hasEvents;
  }

  async function settle(): Promise<void> {
    for (;;) {
      await turns();
      while (working > 0 || openings.length > 0) {
        if (openings.every(({ finish }) => finish !== undefined)) {
          for (const { finish } of openings.splice(0)) finish?.();
        }
        await nextTurn();
      }
      const open = [...sent].filter((each) => !each.isDone && !heldBack.includes(each));
      if (open.length > 0 && (mayHaveMoved || open.some((each) => !parked.has(each)))) {
        mayHaveMoved = false;
        if (!(await areParked(open))) continue;
      }
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

  const parked = new Set<Sent>();
  /** Statements that wait for locks, and whose processes are stopped until the ones before them go on or wait again. */
  const heldBack: Sent[] = [];

  /** True if the statement may end a transaction, and so release locks. */
  function mayRelease(pid: number, text: string): boolean {
    return text !== 'begin' && (text === 'commit' || text === 'rollback' || !transactions.has(pid));
  }

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
    await pause(PATIENCE_MS);
    for (const { pid } of heldBack) process.kill(pid, 'SIGSTOP');
  }

  /** Gives the answer to the node, at once or as a later step. */
  function hand(statement: Sent): void {
    sent.delete(statement);
    const wasParked = parked.delete(statement);
    if (!statement.by.isAlive) return;
    if (statement.label !== 'begin' && (wasParked || random.chance(LATE_ANSWER))) {
      scheduler.ready(
        statement.by,
        `the answer arrives: ${statement.label}`,
        statement.deliver,
        isPrompt(statement.pid),
      );
    } else if (statement.by.pausedUntilMs > scheduler.nowMs()) {
      scheduler.ready(statement.by, `the answer arrives: ${statement.label}`, statement.deliver);
    } else statement.deliver();
  }

  /** True if each of these statements waits for a lock, and not in a circle, which the server breaks by itself. */
  async function areParked(open: readonly Sent[]): Promise<boolean> {
    await Promise.race([Promise.all(open.map(({ ended }) => ended)), pause(PATIENCE_MS)]);
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
    const pids = new Set([...transactions.keys(), ...waiting.map(({ pid }) => pid)]);
    const blockers = new Map(rows.map(({ pid, by }) => [pid, by.filter((each) => pids.has(each))]));
    const isBlocked = ({ pid }: Sent) => (blockers.get(pid)?.length ?? 0) > 0 && !isInCircle(blockers, pid);
    if (waiting.some((each) => each.isDone || !isBlocked(each))) {
      mayHaveMoved = true;
      return false;
    }
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
      clients.set(applicationName, new Set());
      drivers.set(applicationName, (client, query, send) => gate(by, client, query, send));
    },
    settle,
    async busy(work) {
      working += 1;
      try {
        return await work;
      } finally {
        working -= 1;
      }
    },
    async cut(applicationName) {
      holdBack(names.get(applicationName));
      const of = [applicationName];
      await observer.query('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', of);
      // A process that an earlier statement has stopped takes the signal when it goes on.
      for (const each of heldBack.filter(({ by }) => by === names.get(applicationName))) {
        heldBack.splice(heldBack.indexOf(each), 1);
        process.kill(each.pid, 'SIGCONT');
      }
      for (let left = 1; left > 0; ) {
        const { rows } = await observer.query<{ count: number }>(
          'select count(*)::int as count from pg_stat_activity where application_name = $1',
          of,
        );
        left = rows[0]?.count ?? 0;
      }
      while ((clients.get(applicationName)?.size ?? 0) > 0) await nextTurn();
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
      for (const name of names.keys()) {
        drivers.delete(name);
        clients.delete(name);
      }
      await Promise.all([observer.end(), ear.end()]);
    },
  };
}

/** Lets all promises that are ready go on. Nothing of a node waits for more turns of the event loop than this. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await nextTurn();
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

/** Finds the tables that a statement changes. The same statements come again and again. */
function createChangeFinder(): (text: string) => readonly WatchedTable[] {
  const known = new Map<string, readonly WatchedTable[]>();
  return (text) => {
    const found = known.get(text) ?? [...text.matchAll(CHANGES)].map(([, table]) => table as WatchedTable);
    known.set(text, found);
    return found;
  };
}

/** A wait for a lock ends by the time of the simulation alone. */
function withoutTimeout(text: string): string {
  return text.replace("set_config('lock_timeout', $1,", "set_config('lock_timeout', left($1, 0) || '0',");
}

/** The beginning of a statement, in one line. */
function labelOf(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, 90);
}
