import pg from 'pg';
import { hostUrls } from '../../domain/database-hosts.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import type { Clock, Log } from '../../runtime/world.ts';
import { type ConnectionInput, connect, connectionSettings, cut, send } from './connection.ts';
import { findPrimary, type Primary } from './primary.ts';

/**
 * Detects a database that hangs without closing its connections: a stopped process, or a host that has vanished. A separate connection asks
 * for the database's time again and again. A short statement timeout would not be enough, because it cannot distinguish a slow statement
 * from a silent server.
 */
export interface Heartbeat {
  /** The URL of the present primary alone, without the other hosts. */
  url(): string;
  /** False while the database does not answer. New statements are then refused at once. */
  isAlive(): boolean;
  /**
   * Records that the database has answered on another connection. This proves that it is alive, even if the heartbeat's own answer is late.
   */
  noteAnswer(): void;
  /** Calls the listener each time the database stops answering or moves to another host. Its open connections are then useless. */
  onStall(listener: () => void): void;
  /** Resolves after the first answers or a refusal, or when the database has been silent for too long. */
  readonly started: Promise<void>;
  stop(): void;
}

/** An answer of the server, with the times at which this node asked and got the answer. */
export interface Beat {
  readonly askedAtMs: number;
  readonly answeredAtMs: number;
  readonly row: Readonly<Record<string, unknown>>;
}

export interface HeartbeatInput extends Pick<ConnectionInput, 'url' | 'applicationName' | 'isPooled'> {
  readonly log: Log;
  /** The clock that measures `askedAtMs` and `answeredAtMs`. */
  readonly clock: Clock;
  /** The SQL expressions that each query of the heartbeat selects, without parameters. The query returns one row. */
  readonly ask: string;
  readonly onBeat: (beat: Beat) => void;
  /** Chooses a server among the hosts of the URL. Called for each new connection. By default it chooses the primary. */
  readonly find?: (url: string, last: Primary) => Promise<Primary>;
  /** The lines of the log when the server stops answering, and when it answers again. */
  readonly words: { readonly silent: string; readonly back: string };
  readonly limits?: HeartbeatLimits;
}

/** The times for which a server may be silent. */
export interface HeartbeatLimits {
  /** The time after which a connection without an answer is closed. */
  readonly answerMs: number;
  /** The number of ticks of this process without an answer after which the server counts as silent. */
  readonly silentTicks: number;
}

const BEAT_EVERY_MS = 500;
/** The number of beats of a new connection that follow each other quickly. The fastest one sets the node's clock. */
const FIRST_BEATS = 5;
const FIRST_PAUSE_MS = 5;
const RETRY_MS = 100;
const TICK_MS = 250;
const LIMITS: HeartbeatLimits = { answerMs: 2_000, silentTicks: 8 };
const findNewest = (url: string, { timeline }: Primary) => findPrimary(url, timeline);

/** Starts the heartbeat of a server. Its delays use the machine's clock, because a node in virtual time still has real sockets. */
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
        // A refusal such as "too many connections" is an answer. Statements get the same refusal, with its reason.
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

  /**
   * Counts the silence of the server. It is counted in ticks of this process, so that a pause of the process itself does not count as
   * silence.
   */
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
