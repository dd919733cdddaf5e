import type pg from 'pg';
import { systemWorld } from '../../runtime/system-world.ts';
import { type ConnectionInput, connect, connectionSettings, cut, send } from './connection.ts';
import { findPrimary } from './primary.ts';

export interface Listener {
  readonly onMessage: (text: string) => void;
  /** Called at the start and after each reconnection. Messages that were sent while the connection was down are lost. */
  readonly onConnected: () => void;
}

/** A connection that listens on any number of channels. */
export interface Listening {
  add(channel: string, listener: Listener): Promise<void>;
  /** Closes the connection and opens a new one. Called when the database hangs or moves: the old connection may stay silent forever. */
  reopen(): void;
  stop(): Promise<void>;
}

const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 250;
/** The longest wait for an answer when the connection is opened again. Afterwards another attempt begins. */
const ANSWER_MS = 3_000;
/**
 * The longest wait for an answer at the start of a node. It is longer, because nobody waits for the node yet, and the node may be busy
 * itself.
 */
const FIRST_ANSWER_MS = 15_000;

/**
 * Listens on a separate connection, which is opened with the first channel, and opened again whenever it breaks. Its delays use the
 * machine's clock, because a node in virtual time still has real sockets.
 */
export function createListening(input: ConnectionInput): Listening {
  const listeners = new Map<string, Listener>();
  let isClosed = false;
  let connection: Promise<Connection> | undefined;

  async function open(answerMs: number): Promise<Connection> {
    const { url } = await findPrimary(input.url);
    const settings = connectionSettings({ ...input, url });
    const client = await connect({ ...settings, connectionTimeoutMillis: answerMs, query_timeout: answerMs });
    const ended = new Promise<void>((resolve) => client.once('end', resolve));
    client.on('notification', ({ channel, payload = '' }) => listeners.get(channel)?.onMessage(payload));
    try {
      for (const channel of listeners.keys()) await send(client, { text: `listen ${channel}`, values: [] });
    } catch (error) {
      void client.end();
      throw error;
    }
    for (const { onConnected } of listeners.values()) onConnected();
    return { client, ended };
  }

  async function follow(first: Connection): Promise<void> {
    let current = first;
    let waitMs = FIRST_WAIT_MS;
    while (!isClosed) {
      await current.ended;
      await systemWorld.timers.sleep(waitMs);
      if (isClosed) return;
      const next = await open(ANSWER_MS).catch(() => undefined);
      waitMs = next === undefined ? Math.min(waitMs * 2, LONGEST_WAIT_MS) : FIRST_WAIT_MS;
      if (next === undefined) continue;
      current = next;
      connection = Promise.resolve(next);
      if (isClosed) await next.client.end();
    }
  }

  return {
    async add(channel, listener) {
      listeners.set(channel, listener);
      if (connection !== undefined) {
        const { client } = await connection;
        await send(client, { text: `listen ${channel}`, values: [] });
        listener.onConnected();
        return;
      }
      connection = open(FIRST_ANSWER_MS);
      void follow(await connection);
    },
    reopen() {
      void connection?.then(({ client }) => cut(client)).catch(() => {});
    },
    async stop() {
      isClosed = true;
      const open = await connection?.catch(() => undefined);
      await open?.client.end();
    },
  };
}

interface Connection {
  readonly client: pg.Client;
  readonly ended: Promise<void>;
}
