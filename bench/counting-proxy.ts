import { createServer } from 'node:http';
import { freePort } from './processes.ts';

/** An endpoint that passes everything on to another one, and counts the calls. */
export async function startCountingProxy(target: string) {
  let calls = 0;
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (piece: string) => {
      body += piece;
    });
    request.on('end', async () => {
      try {
        const asked = JSON.parse(body) as unknown;
        calls += Array.isArray(asked) ? asked.length : 1;
        const answer = await fetch(target, { method: 'POST', body });
        response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
      } catch {
        response.writeHead(502).end();
      }
    });
  });
  server.keepAliveTimeout = 60_000;
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${port}`,
    count: () => calls,
    stop: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
