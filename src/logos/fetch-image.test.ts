import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { selfSignedCertificate } from '../../test/certificate.ts';
import { png, pngOfText } from '../../test/pictures.ts';
import { systemWorld } from '../runtime/system-world.ts';
import { createImageFetcher, ImageError } from './fetch-image.ts';

const PNG = pngOfText('a logo');
const { timers } = systemWorld;

describe('fetching an image', () => {
  const certificate = selfSignedCertificate();
  let answer: RequestListener = () => {};
  let requests = 0;
  const server = createServer(certificate, (request, response) => {
    requests += 1;
    answer(request, response);
  });
  let url = '';
  before(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `https://localhost:${(server.address() as AddressInfo).port}/logo.png`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const fetchLocal = createImageFetcher({ timers, isAllowed: () => true, ca: certificate.cert });
  const refusal = async (fetching: Promise<unknown>) => {
    const error = await fetching.then(
      () => assert.fail('it was fetched'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof ImageError, String(error));
    return error;
  };

  it('returns the bytes and their real type, whatever the server’s header', async () => {
    answer = (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(PNG);
    const { type, bytes } = await fetchLocal(url);
    assert.equal(type, 'image/png');
    assert.deepEqual(bytes, PNG);
  });

  it('asks no address that is not public, by name or by number, and sends nothing to it', async () => {
    const before = requests;
    const fetchPublic = createImageFetcher({ timers, ca: certificate.cert });
    const { port } = new URL(url);
    for (const host of ['localhost', '127.0.0.1', '[::1]', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]']) {
      const { message, isPassing } = await refusal(fetchPublic(`https://${host}:${port}/logo.png`));
      assert.match(message, /not a public one/, host);
      assert.ok(!isPassing);
    }
    assert.equal(requests, before);
  });

  it('connects to the very address that was checked', async () => {
    answer = (_request, response) => response.end(PNG);
    const checked: string[] = [];
    const isAllowed = (address: string) => {
      checked.push(address);
      return address === '127.0.0.1';
    };
    await createImageFetcher({ timers, isAllowed, ca: certificate.cert })(url);
    assert.ok(checked.includes('127.0.0.1'));
  });

  it('follows no redirect', async () => {
    answer = (_request, response) => response.writeHead(302, { location: url }).end();
    const before = requests;
    const { message, isPassing } = await refusal(fetchLocal(url));
    assert.match(message, /answered 302/);
    assert.ok(!isPassing);
    assert.equal(requests, before + 1);
  });

  it('may find it another time where the server has trouble', async () => {
    for (const [status, isPassing] of [
      [500, true],
      [503, true],
      [429, true],
      [404, false],
      [204, false],
    ] as const) {
      answer = (_request, response) => response.writeHead(status).end();
      assert.equal((await refusal(fetchLocal(url))).isPassing, isPassing, String(status));
    }
    answer = (request) => request.socket.destroy();
    assert.ok((await refusal(fetchLocal(url))).isPassing);
  });

  it('takes two megabytes and not one byte more', async () => {
    const full = Buffer.concat([PNG, Buffer.alloc(2 * 1024 * 1024 - PNG.length)]);
    answer = (_request, response) => response.end(full);
    assert.deepEqual((await fetchLocal(url)).bytes, PNG);
    answer = (_request, response) => response.end(Buffer.concat([full, Buffer.alloc(1)]));
    assert.match((await refusal(fetchLocal(url))).message, /larger than 2 MB/);
  });

  it('takes a picture of bounded size, and nothing else that is in its file', async () => {
    answer = (_request, response) => response.end(png({ width: 30_000, height: 30_000, rows: Buffer.alloc(9) }));
    const { message, isPassing } = await refusal(fetchLocal(url));
    assert.deepEqual([message, isPassing], ['it must have at most 4 million pixels', false]);
    answer = (_request, response) => response.end(Buffer.concat([PNG, Buffer.from('<script>1</script>')]));
    assert.deepEqual((await fetchLocal(url)).bytes, PNG);
  });

  it('refuses other files, and a truncated image', async () => {
    answer = (_request, response) => response.writeHead(200, { 'content-type': 'image/png' }).end('<script>1</script>');
    assert.match((await refusal(fetchLocal(url))).message, /must be a JPEG, PNG or WebP/);
    answer = (_request, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write(PNG, () => response.destroy());
    };
    assert.ok((await refusal(fetchLocal(url))).isPassing);
  });

  it('waits five seconds and no longer', async () => {
    const delays: number[] = [];
    let ring = () => {};
    const impatient = {
      ...timers,
      after: (delayMs: number, run: () => void) => {
        delays.push(delayMs);
        ring = run;
        return () => {};
      },
    };
    answer = () => ring();
    const fetching = createImageFetcher({ timers: impatient, isAllowed: () => true, ca: certificate.cert })(url);
    const { message, isPassing } = await refusal(fetching);
    assert.match(message, /longer than 5 s/);
    assert.ok(isPassing);
    assert.deepEqual(delays, [5_000]);
  });

  it('believes only certificates, and only HTTPS', async () => {
    answer = (_request, response) => response.end(PNG);
    const doubting = createImageFetcher({ timers, isAllowed: () => true });
    assert.ok((await refusal(doubting(url))).isPassing);
    for (const other of [url.replace('https', 'http'), 'file:///etc/passwd', 'data:image/png,x', 'nonsense']) {
      assert.match((await refusal(fetchLocal(other))).message, /not an HTTPS one/);
    }
  });
});
