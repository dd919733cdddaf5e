import { createServer, type Server } from 'node:http';
import type { Metrics } from '../runtime/metrics.ts';
import { listAlerts } from '../store/plumbing/alerts.ts';
import type { Database } from '../store/plumbing/database.ts';

const DEFAULT_PORT = 9464;

export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Metrics have a port of their own, so that no public route exposes them. */
export async function serveMetrics(
  deps: { metrics: Metrics; db: Database },
  { host, port }: { host: string; port: number | undefined },
): Promise<MetricsServer> {
  const { registry } = deps.metrics;
  const server = createServer(async (request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') return void response.writeHead(404).end();
    try {
      await countAlerts(deps);
      const text = await registry.metrics();
      response.writeHead(200, { 'Content-Type': registry.contentType }).end(text);
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

/** Alerts live in the database; a node that cannot read them still exports the rest. */
async function countAlerts({ metrics, db }: { metrics: Metrics; db: Database }): Promise<void> {
  const alerts = await listAlerts(db.sql).catch(() => undefined);
  metrics.alerts.reset();
  for (const { name } of alerts ?? []) metrics.alerts.inc({ name });
}

/** A second gateway on one machine finds the default port taken and takes another; a port that was asked for must be free. */
async function listen(server: Server, host: string, port: number | undefined): Promise<void> {
  try {
    await listenOn(server, host, port ?? DEFAULT_PORT);
  } catch (error) {
    const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
    if (!isTaken || port !== undefined) throw error;
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
