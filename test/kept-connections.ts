import type { Socket } from 'node:net';
import pg from 'pg';

/**
 * Connections to databases of tests outlive their pool: the next pool with the same settings gets them. On a new
 * connection the server reads its catalogs and plans every statement again, which took most of its processor time.
 */
const kept = new Set<KeptClient>();
/** Connections that are about to be kept. */
const leaving = new Set<Promise<unknown>>();
/** The databases whose connections are kept. */
const places = new Set<string>();

/** Ends all that a session may have left, except for its prepared statements. */
const FORGET =
  'close all; reset session authorization; reset all; unlisten *; ' +
  'select pg_advisory_unlock_all(); discard sequences; discard temp';

type Done = (error: Error) => void;

/** Pools pass a function to `connect` and `end`. */
class KeptClient extends pg.Client {
  readonly place: string;
  readonly settings: string;

  constructor(config: pg.ClientConfig) {
    super(config);
    this.place = placeOf(config);
    this.settings = settingsOf(config);
  }

  get pid(): number {
    return (this as unknown as { readonly processID: number }).processID;
  }

  override connect(done?: unknown): Promise<never> {
    if (!kept.delete(this)) return super.connect(done as Done) as never;
    this.#socket.ref();
    process.nextTick(done as Done);
    return undefined as never;
  }

  override end(done?: unknown): Promise<never> {
    if (!this.#isKeepable) return super.end(done as Done) as never;
    const left = this.#leave().then((isKept) => (isKept ? (done as () => void)() : super.end(done as Done)));
    leaving.add(left);
    void left.finally(() => leaving.delete(left));
    return left as never;
  }

  async #leave(): Promise<boolean> {
    await this.query(FORGET).catch(() => this.#socket.destroy());
    if (!this.#isKeepable) return false;
    // The listeners of the pool.
    this.removeAllListeners();
    this.on('error', () => kept.delete(this));
    // A kept connection does not keep the process alive.
    this.#socket.unref();
    kept.add(this);
    return true;
  }

  /** True if no statement is under way, and no transaction. */
  get #isKeepable(): boolean {
    const { readyForQuery } = this as unknown as { readonly readyForQuery?: boolean };
    const isIdle = readyForQuery === true && this.getTransactionStatus() === 'I';
    return isIdle && !this.#socket.destroyed && places.has(this.place);
  }

  get #socket(): Socket {
    return (this.connection as unknown as { readonly stream: Socket }).stream;
  }
}

const Client = new Proxy(KeptClient, {
  construct(_, [config]: [pg.ClientConfig]) {
    const settings = settingsOf(config);
    return kept.values().find((client) => client.settings === settings) ?? new KeptClient(config);
  },
});

/** From here on pools of this process leave their connections to this database to later ones. */
export function keepConnections(url: string): void {
  hookPools();
  places.add(placeOf(new pg.Client(url)));
}

let isHooked = false;

/** The gateway opens its pools by itself, so the hook is on the driver's class. */
function hookPools(): void {
  if (isHooked) return;
  isHooked = true;
  const Pool = new Proxy(pg.Pool, { construct: (Base, [config]) => new Base({ ...config, Client }) });
  Object.assign(pg, { Pool });
}

/** The processes of the server that serve the kept connections. */
export async function keptProcesses(url: string): Promise<number[]> {
  await Promise.all(leaving);
  const place = placeOf(new pg.Client(url));
  return [...kept].filter((client) => client.place === place).map(({ pid }) => pid);
}

/** Closes the connections to this database, now and when their pools end. */
export async function closeConnections(url: string): Promise<void> {
  const place = placeOf(new pg.Client(url));
  places.delete(place);
  for (const client of kept) {
    if (client.place !== place) continue;
    kept.delete(client);
    await client.end();
  }
}

type Target = Pick<pg.ClientConfig, 'host' | 'port' | 'database'>;

function placeOf({ host, port, database }: Target): string {
  return `${host}:${port}/${database}`;
}

function settingsOf(config: pg.ClientConfig): string {
  const { user, options, application_name, query_timeout } = config;
  return JSON.stringify([placeOf(config), user, options, application_name, query_timeout]);
}
