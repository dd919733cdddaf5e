import pg from 'pg';
import { hostUrls } from '../../domain/database-hosts.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import type { Clock, Log } from '../../runtime/world.ts';
import { type ConnectionInput, connect, connectionSettings, cut, send } from './connection.ts';
import { findPrimary, type Primary } from './primary.ts';

/**
 * Detects a database that hangs without closing its connections, such as a stopped process or a vanished host. A separate
 * connection repeatedly asks for the database's time. A short statement timeout would not do, because it cannot distinguish a slow
 * statement from a silent server.
 */
export interface Heartbeat {
  /** The URL of the current primary only. */
  url(): string;
  /** False while the database does not answer. New work is then refused at once. */
  isAlive(): boolean;
  /** Records an answer on another connection. It proves that the database is alive even if the next beat is late. */
  noteAnswer(): void;
  /** Calls the listener each time the database stops answering or moves, because its connections are useless then. */
  onStall(listener: () => void): void;
  /** Resolves when the first beats are answered or refused, or when the database is considered stalled. */
  readonly started: Promise<void>;
  stop(): void;
}

/** An answer of the server, with this node's times of question and answer. */
export interface Beat {
  readonly askedAtMs: number;
  readonly answeredAtMs: number;
  readonly row: Readonly<Record<string, unknown>>;
}

export interface HeartbeatInput extends Pick<ConnectionInput, 'url' | 'applicationName' | 'isPooled'> {
  readonly log: Log;
  /** The clock that the beats are measured with. */
  readonly clock: Clock;
  /** The question of each beat: one statement without parameters, which returns one row. */
  readonly ask: string;
  readonly onBeat: (beat: Beat) => void;
  /** Chooses a server among the hosts of the URL, again for each connection. By default the primary. */
  readonly find?: (url: string, last: Primary) => Promise<Primary>;
  /** The lines of the log when the server falls silent, and when it answers again. */
  readonly words: { readonly silent: string; readonly back: string };
  readonly limits?: HeartbeatLimits;
}

/** How long a server may be silent. */
export interface HeartbeatLimits {
  /** A connection without an answer for this long is abandoned. */
  readonly answerMs: number;
  /** Silence is counted in ticks of this process. */
  readonly silentTicks: number;
}

const BEAT_EVERY_MS = 500;
/** The first beats of a connection follow in quick succession, because the fastest one sets the clock. */
const FIRST_BEATS = 5;
const FIRST_PAUSE_MS = 5;
const RETRY_MS = 100;
const TICK_MS = 250;
const LIMITS: HeartbeatLimits = { answerMs: 2_000, silentTicks: 8 };
const findNewest = (url: string, { timeline }: Primary) => findPrimary(url, timeline);

/** Delays use the machine's time, because a node in virtual time still has real sockets. */
export function startHeartbeat(input: HeartbeatInput): Heartbeat {
  const { log, clock, ask, onBeat, find = findNewest, words, limits = LIMITS } = input;
  const stop = new AbortController();
  const listeners: (() => void)[] = [];
  const started = Promise.withResolvers<void>();
  let primary: Primary = { url: hostUrls(input.url)[0] ?? input.url, timeline: 0 };
  let client: pg.Client | undefined;
  let beats = 0;
  let silentTicks = 0;
  let isAlive = true;

  function noteAnswer(): void {
    silentTicks = 0;
    if (isAlive) return;
    isAlive = true;
    log.info(words.back);
  }

  async function open(): Promise<pg.Client> {
    const found = await find(input.url, primary);
    const isMoved = found.url !== primary.url;
    primary = found;
    if (isMoved) for (const listener of listeners) listener();
    return connect({
      ...connectionSettings({ ...input, url: primary.url, statementTimeoutMs: limits.answerMs }),
      connectionTimeoutMillis: limits.answerMs,
      query_timeout: limits.answerMs,
    });
  }

  async function beat(): Promise<void> {
    client ??= await open();
    const askedAtMs = clock.nowMs();
    const { rows } = await send(client, { text: ask, values: [] });
    onBeat({ askedAtMs, answeredAtMs: clock.nowMs(), row: rows[0] });
    beats += 1;
    noteAnswer();
    if (beats === FIRST_BEATS) started.resolve();
  }

  function giveUpConnection(): void {
    if (client !== undefined) cut(client);
    client = undefined;
    beats = 0;
  }

  async function beatForever(): Promise<void> {
    while (!stop.signal.aborted) {
      let pauseMs = RETRY_MS;
      try {
        await beat();
        pauseMs = beats < FIRST_BEATS ? FIRST_PAUSE_MS : BEAT_EVERY_MS;
      } catch (error) {
        // A refusal such as "too many connections" is an answer. Statements receive the same refusal with its reason.
        if (error instanceof pg.DatabaseError) {
          noteAnswer();
          started.resolve();
        }
        giveUpConnection();
      }
      await systemWorld.timers.sleep(pauseMs, stop.signal);
    }
    giveUpConnection();
  }

  /** Silence is counted in ticks of this process, so that a pause of the process itself does not count as silence. */
  function tick(): void {
    if (stop.signal.aborted) return;
    systemWorld.timers.after(TICK_MS, tick);
    silentTicks += 1;
    if (silentTicks < limits.silentTicks || !isAlive) return;
    isAlive = false;
    log.error(words.silent);
    giveUpConnection();
    for (const listener of listeners) listener();
    started.resolve();
  }

  void beatForever();
  systemWorld.timers.after(TICK_MS, tick);
  return {
    url: () => primary.url,
    isAlive: () => isAlive,
    noteAnswer,
    onStall: (listener) => void listeners.push(listener),
    started: started.promise,
    stop() {
      stop.abort();
      giveUpConnection();
      started.resolve();
    },
  };
}
