import { createServer, type Server, type ServerResponse } from 'node:http';
import { programVersion } from '../runtime/own-package.ts';
import type { HttpDeps } from './deps.ts';
import { createGauges, type GaugeDeps } from './gauges.ts';
import { createReadiness } from './readiness.ts';

const DEFAULT_PORT = 9464;

export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

interface Place {
  readonly host: string;
  /** The configured port. Undefined if none is configured. */
  readonly port: number | undefined;
}

type MetricsDeps = GaugeDeps & Pick<HttpDeps, 'config' | 'drain' | 'clockOffMs' | 'secrets' | 'standing'>;

/** Serves metrics and probes on a port of their own: no public route exposes metrics, and a node without an API has probes. */
export async function serveMetrics(deps: MetricsDeps, place: Place): Promise<MetricsServer> {
  const { registry } = deps.metrics;
  const check = createReadiness(deps);
  const readGauges = createGauges(deps);
  const answers: Readonly<Record<string, (response: ServerResponse) => Promise<unknown>>> = {
    '/metrics': async (response) => {
      await readGauges();
      const text = await registry.metrics();
      response.writeHead(200, { 'Content-Type': registry.contentType }).end(text);
    },
    '/ready': async (response) => {
      const readiness = await check();
      sendJson(response, readiness.ready ? 200 : 503, readiness);
    },
    '/health': async (response) => sendJson(response, 200, { status: 'ok', version: programVersion() }),
  };
  const server = createServer(async (request, response) => {
    const answer = request.method === 'GET' ? answers[request.url ?? ''] : undefined;
    if (answer === undefined) return void response.writeHead(404).end();
    try {
      await answer(response);
    } catch {
      response.writeHead(500).end();
    }
  });
  await listenForMetrics(server, place);
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}

/** The port for metrics and probes cannot be opened. The message names the settings of this port, not those of the API's port. */
export class MetricsListenError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MetricsListenError';
  }
}

const REFUSALS: Readonly<Record<string, (host: string, port: number) => string>> = {
  EADDRINUSE: (_, port) => `Port ${port} for metrics is in use. Set METRICS_PORT to a free port.`,
  EADDRNOTAVAIL: (host) => `${host} for metrics is no address of this machine. Correct METRICS_HOST.`,
  EACCES: (_, port) =>
    `This account may not use port ${port} for metrics. Set METRICS_PORT to another, such as ${DEFAULT_PORT}.`,
};

/**
 * Opens the port for metrics. A configured port must be free. If the default port is in use, as by a second gateway on the machine,
 * another port is taken.
 */
export async function listenForMetrics(server: Server, { host, port }: Place): Promise<void> {
  const wanted = port ?? DEFAULT_PORT;
  try {
    await listenOn(server, host, wanted);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE' && port === undefined) return listenOn(server, host, 0);
    const words = REFUSALS[code]?.(host, wanted);
    throw words === undefined ? error : new MetricsListenError(words);
  }
}

function listenOn(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
