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

type MetricsDeps = GaugeDeps & Pick<HttpDeps, 'config' | 'drain' | 'clockOffMs' | 'secrets' | 'standing'>;

/** Metrics and probes have their own port: no public route exposes metrics, and a node without an API has probes. */
export async function serveMetrics(
  deps: MetricsDeps,
  { host, port }: { host: string; port: number | undefined },
): Promise<MetricsServer> {
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
  await listen(server, host, port);
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

export class MetricsPortError extends Error {
  constructor(port: number) {
    super(`Port ${port} for metrics is in use. Set METRICS_PORT to a free port.`);
    this.name = 'MetricsPortError';
  }
}

/** A second gateway on one machine finds the default port in use and takes another. A configured port must be free. */
async function listen(server: Server, host: string, port: number | undefined): Promise<void> {
  try {
    await listenOn(server, host, port ?? DEFAULT_PORT);
  } catch (error) {
    const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
    if (isTaken && port !== undefined) throw new MetricsPortError(port);
    if (!isTaken) throw error;
    await listenOn(server, host, 0);
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
