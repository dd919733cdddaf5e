import type pg from 'pg';
import { systemWorld } from '../../runtime/system-world.ts';
import { connect, send } from './connection.ts';

export interface Listener {
  readonly onMessage: (text: string) => void;
  /** Called at the start, and each time the connection has come back: messages sent meanwhile were lost. */
  readonly onConnected: () => void;
}

const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 250;

/**
 * Listens on a connection of its own, and opens a new one whenever it breaks. Waits go by the machine's time: a node in
 * virtual time still has real sockets. Returns the function that ends it.
 */
export async function listen(
  settings: pg.ClientConfig,
  channel: string,
  { onMessage, onConnected }: Listener,
): Promise<() => Promise<void>> {
  let isClosed = false;
  let connection = await open();
  void follow();

  async function open() {
    const client = await connect(settings);
    const ended = new Promise<void>((resolve) => client.once('end', resolve));
    client.on('notification', ({ payload = '' }) => onMessage(payload));
    try {
      await send(client, { text: `listen ${channel}`, values: [] });
    } catch (error) {
      void client.end();
      throw error;
    }
    onConnected();
    return { ended, end: () => client.end() };
  }

  async function follow(): Promise<void> {
    let waitMs = FIRST_WAIT_MS;
    while (!isClosed) {
      await connection.ended;
      await systemWorld.timers.sleep(waitMs);
      const next = isClosed ? undefined : await open().catch(() => undefined);
      waitMs = next === undefined ? Math.min(waitMs * 2, LONGEST_WAIT_MS) : FIRST_WAIT_MS;
      connection = next ?? connection;
    }
    await connection.end();
  }

  return () => {
    isClosed = true;
    return connection.end();
  };
}
