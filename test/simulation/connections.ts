import { setImmediate as nextTurn } from 'node:timers/promises';
import pg from 'pg';

/** A statement as the driver sends it. */
export interface Query {
  readonly text: string;
  readonly values?: unknown[];
  readonly name?: string | undefined;
}

type Send = (this: pg.Client, query: Query, ...rest: unknown[]) => Promise<pg.QueryResult>;
type Connect = (this: pg.Client, done?: (error: Error | null) => void) => Promise<void> | undefined;
type Parameters = Record<'host' | 'user' | 'database' | 'options' | 'application_name', string> & {
  readonly port: number;
};

/** A connection as a node has it. Only a statement or a transaction of it takes one of the server. */
export type NodeClient = pg.Client & {
  readonly connectionParameters: Parameters;
  readonly password: string;
  readonly _types: pg.CustomTypesConfig;
  _handleErrorEvent(error: Error): void;
};

/** A connection of the server. */
export interface ServerConnection {
  readonly client: pg.Client;
  readonly pid: number;
  /** The names of the statements that it has planned. */
  readonly planned: Set<string>;
  isLost: boolean;
}

/** What happens to the connections of one application name. */
interface Gate {
  connect(client: NodeClient, done: () => void): void;
  query(client: NodeClient, query: Query): Promise<pg.QueryResult>;
}

const gates = new Map<string, Gate>();
let send: Send = () => Promise.reject(new Error('The driver has no hook yet.'));
let isHooked = false;

/**
 * Puts the simulation between the gateway and the PostgreSQL driver, for connections that a run has adopted. The
 * gateway opens its pools by itself, so the hook is on the driver's class.
 */
function hookDriver(): void {
  if (isHooked) return;
  isHooked = true;
  const prototype = pg.Client.prototype as unknown as { query: Send; connect: Connect };
  const { connect } = prototype;
  send = prototype.query;
  prototype.query = function (query, ...rest) {
    const gate = gateOf(this);
    return gate === undefined ? send.call(this, query, ...rest) : gate.query(this as NodeClient, query);
  };
  prototype.connect = function (done) {
    const gate = gateOf(this);
    if (done === undefined || gate === undefined) return connect.call(this, done);
    // A crash may come before the pool has the connection and listens for its errors.
    this.on('error', () => {});
    // It has no socket.
    Object.assign(this, { ref: () => {}, unref: () => {} });
    gate.connect(this as NodeClient, () => done(null));
    return undefined;
  };
}

function gateOf(client: pg.Client): Gate | undefined {
  return gates.get((client as NodeClient).connectionParameters.application_name ?? '');
}

/**
 * The connections of the nodes of a run. A node takes one for each statement that waits for its step, and so has dozens. The server has as
 * many as statements and transactions run at once: each would plan every statement again.
 */
export interface Connections {
  /** Calls the gate with all that the connections of this application name do. */
  adopt(applicationName: string, gate: (client: NodeClient, query: Query) => Promise<pg.QueryResult>): void;
  /** True while the connection takes statements. */
  isOpen(client: NodeClient): boolean;
  /** The connection of the server that this one has now. */
  lent(client: NodeClient): ServerConnection | undefined;
  /** Gives it the one that it has already, or one that has planned the statement of this name, or another one. */
  lend(client: NodeClient, name: string | undefined): ServerConnection | Promise<ServerConnection>;
  giveBack(client: NodeClient): void;
  /** Sends a statement, or has it fail as on a broken connection. The first one of a transaction begins it. */
  send(client: NodeClient, query: Query, isFirst: boolean): Promise<pg.QueryResult>;
  /** True while a connection is not usable yet. */
  areOpening(): boolean;
  /** Makes them usable, in the order in which they were asked for. */
  finishOpening(): void;
  /** Breaks the connections of a name. `terminate` ends those processes of the server. */
  cut(applicationName: string, terminate: (pids: readonly number[]) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

export function openConnections(): Connections {
  hookDriver();
  /** The open connections of each name. */
  const clients = new Map<string, Set<NodeClient>>();
  const lent = new Map<NodeClient, ServerConnection>();
  const all = new Set<ServerConnection>();
  const free: ServerConnection[] = [];
  const openings: (() => void)[] = [];

  async function open({ connectionParameters: given, password, _types: types }: NodeClient): Promise<ServerConnection> {
    const { host, port, user, database, options } = given;
    const name = { application_name: 'simulated nodes' };
    const client = new pg.Client({ host, port, user, password, database, options, types, ...name });
    client.on('error', () => {
      connection.isLost = true;
    });
    client.once('end', () => {
      connection.isLost = true;
      all.delete(connection);
    });
    await client.connect();
    const { processID: pid } = client as unknown as { readonly processID: number };
    const connection: ServerConnection = { client, pid, planned: new Set(), isLost: false };
    all.add(connection);
    return connection;
  }

  return {
    adopt(applicationName, query) {
      const own = new Set<NodeClient>();
      clients.set(applicationName, own);
      const connect: Gate['connect'] = (client, done) => {
        own.add(client);
        openings.push(done);
      };
      gates.set(applicationName, { connect, query });
    },
    isOpen: (client) => clients.get(client.connectionParameters.application_name)?.has(client) ?? false,
    lent: (client) => lent.get(client),
    lend(client, name = '') {
      const planned = free.findLastIndex((each) => each.planned.has(name));
      const connection = lent.get(client) ?? free.splice(planned, 1)[0];
      if (connection === undefined) {
        return open(client).then((opened) => {
          lent.set(client, opened);
          return opened;
        });
      }
      lent.set(client, connection);
      return connection;
    },
    giveBack(client) {
      const connection = lent.get(client);
      lent.delete(client);
      if (connection !== undefined && !connection.isLost) free.push(connection);
    },
    async send(client, query, isFirst) {
      const connection = lent.get(client);
      if (query.name !== undefined) connection?.planned.add(query.name);
      const by = connection?.client ?? client;
      if (isFirst) await send.call(by, { text: 'begin', values: [] });
      return send.call(by, query);
    },
    areOpening: () => openings.length > 0,
    finishOpening() {
      for (const finish of openings.splice(0)) finish();
    },
    async cut(applicationName, terminate) {
      const own = [...(clients.get(applicationName) ?? [])];
      clients.get(applicationName)?.clear();
      const connections = own.flatMap((client) => lent.get(client) ?? []);
      for (const connection of connections) connection.isLost = true;
      if (connections.length > 0) await terminate(connections.map(({ pid }) => pid));
      while (connections.some((each) => all.has(each))) await nextTurn();
      for (const client of own) {
        lent.delete(client);
        client._handleErrorEvent(new Error('Connection terminated unexpectedly'));
        client.emit('end');
      }
    },
    async close() {
      for (const name of clients.keys()) gates.delete(name);
      await Promise.all([...all].map(({ client }) => client.end()));
    },
  };
}
