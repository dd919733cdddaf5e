import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import Fastify from 'fastify';
import { openGuides } from './guide-files.ts';
import { type GuideDeps, guideRoutes } from './guide-routes.ts';

const PUBLIC_URL = 'https://till.example';

describe('the guides', () => {
  let dir: string;
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'till-guides-'));
  });
  after(() => rm(dir, { recursive: true, force: true }));

  async function start() {
    const app = Fastify();
    await app.register(
      guideRoutes as never,
      { config: { publicUrl: PUBLIC_URL }, guides: openGuides(dir) } as GuideDeps,
    );
    return app;
  }

  it('are served once they are built, by one policy, and never another file', async () => {
    const app = await start();
    const get = async (url: string) => {
      const { statusCode, headers, body } = await app.inject({ url });
      return {
        statusCode,
        type: headers['content-type'],
        cache: headers['cache-control'],
        policy: headers['content-security-policy'],
        location: headers.location,
        body,
      };
    };
    for (const url of ['/guides', '/guides/', '/guides/start']) assert.equal((await get(url)).statusCode, 404, url);

    const files = {
      'index.html': 'front',
      'start.html': 'start',
      'start.md': '# Start',
      'llms.txt': '# Till',
      'assets/a.1.js': '1',
    };
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(dir, name)), { recursive: true });
      await writeFile(join(dir, name), text);
    }
    assert.equal((await get('/guides')).location, '/guides/');
    const front = await get('/guides/');
    assert.deepEqual(
      [front.statusCode, front.type, front.cache, front.body],
      [200, 'text/html; charset=utf-8', 'no-cache', 'front'],
    );
    assert.match(String(front.policy), /script-src 'self'; style-src 'self';/);
    assert.equal((await get('/guides/start.html')).body, 'start');
    assert.equal((await get('/guides/start')).body, 'start');
    assert.equal((await get('/guides/start.md')).type, 'text/markdown; charset=utf-8');
    assert.equal((await get('/guides/llms.txt')).type, 'text/plain; charset=utf-8');
    assert.equal((await get('/guides/assets/a.1.js')).cache, 'public, max-age=31536000, immutable');
    for (const url of ['/guides/none', '/guides/..%2fstart.html', '/guides/assets', '/guides/%2e%2e/package.json']) {
      assert.equal((await get(url)).statusCode, 404, url);
    }
    await app.close();
  });
});
