import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { PaymentPage } from '../../sdk/src/api-types.ts';
import { createTill } from '../../sdk/src/till.ts';
import { sign, verify } from '../../sdk/src/webhooks.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { findPort } from '../../src/sandbox/free-port.ts';
import { pngLogo } from '../browser/png.ts';
import { EXPECTED_OF_FAILURES, startFailingGateway } from '../clients/failing-gateway.ts';
import { missingPhp, missingPython, phpPath, pythonPath } from '../interpreters.ts';
import { ONLY_LONG } from '../long.ts';
import { type BuiltSdk, buildSdk } from '../sdk/built-sdk.ts';
import { runExamples } from '../sdk/examples.ts';
import { until } from '../until.ts';
import { type Sandbox, startSandbox } from '../wallet-sdk/sandbox.ts';
import { payWith } from './sandbox-payer.ts';

const ROOT = join(import.meta.dirname, '../..');
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

/** The programs of the guides, as a reader would run them, on one sandbox. */
describe('the programs of the guides', ONLY_LONG, () => {
  let sandbox: Sandbox;
  let sdk: BuiltSdk;
  let folder: string;
  const running: ChildProcess[] = [];
  const servers: Server[] = [];
  before(async () => {
    [sandbox, sdk, folder] = await Promise.all([startSandbox(), buildSdk(), mkdtemp(join(tmpdir(), 'till-guide-'))]);
    await sdk.linkInto(folder);
    await symlink(sandbox.home, join(folder, '.till'));
  });
  after(async () => {
    for (const child of running) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    for (const server of servers) server.close().closeAllConnections();
    await sandbox.stop();
    await Promise.all([folder, sdk.folder].map((path) => rm(path, { recursive: true, force: true })));
  });

  /** The blocks of code of a page in one language. */
  async function blocksOf(page: string, language: string): Promise<string[]> {
    const text = await readFile(join(ROOT, page), 'utf8');
    return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, code]) => code ?? '');
  }

  /** A way to the gateway on which the first answer to each kind of POST is lost. */
  async function startLossyProxy(): Promise<string> {
    const lost = new Set<string | undefined>();
    const server = createServer(async (request, response) => {
      const { method = '', url, headers } = request;
      const body = Buffer.concat(await request.toArray());
      const answer = await fetch(`${sandbox.baseUrl}${url}`, {
        method,
        headers: named(headers, ['api-key', 'merchant-id', 'idempotency-key', 'content-type']),
        ...(method === 'POST' && { body }),
      });
      const text = await answer.text();
      if (method === 'POST' && !lost.has(url)) {
        lost.add(url);
        response.destroy();
      } else response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
    }).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  function run(command: readonly string[], env: Record<string, string> = {}, cwd = folder) {
    const [program = '', ...args] = command;
    const { PATH, HOME } = process.env;
    const { baseUrl, apiKey, merchantId } = sandbox;
    const child = spawn(program, args, {
      cwd,
      env: { PATH, HOME, TILL_URL: baseUrl, API_KEY: apiKey, MERCHANT_ID: merchantId, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.push(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += bytes));
    const ended = once(child, 'close');
    return {
      child,
      output: () => output,
      async end(): Promise<number | null> {
        return (await ended)[0];
      },
      async prints(text: string | RegExp): Promise<void> {
        const isPrinted = () => (typeof text === 'string' ? output.includes(text) : text.test(output));
        await until(`it says ${text}`, () => isPrinted() || child.exitCode !== null).catch(() => {});
        assert.ok(isPrinted(), `It does not say ${text}: ${output}`);
      },
    };
  }
  type Program = ReturnType<typeof run>;

  async function writeProgram(name: string, text: string): Promise<string> {
    await writeFile(join(folder, name), text);
    return name;
  }

  /** Pays the payment that the program asks for. */
  async function payFor(program: Program): Promise<string> {
    await program.prints(/pay_\w{26}/);
    const [paymentId = ''] = /pay_\w{26}/.exec(program.output()) ?? [];
    await payWith(sandbox, await sandbox.createWallet({ USDC: 10_000_000n }), paymentId, 'USDC');
    return paymentId;
  }

  /** A program that takes a payment, ships, and refunds. */
  async function takesAPayment(command: readonly string[], referenceId: string, more = ''): Promise<void> {
    const program = run(command, { TILL_URL: await startLossyProxy() });
    const paymentId = await payFor(program);
    assert.equal(await program.end(), 0, program.output());
    const { data } = await sandbox.call<PaymentPage>('GET', `/v1/payments?referenceId=${referenceId}`);
    assert.deepEqual(
      data.map((listed) => listed.paymentId),
      [paymentId],
    );
    assert.match(
      program.output(),
      new RegExp(`Ship ${referenceId}\\n.*The refund is \\w+\\nparams_validation referenceId\\n${more}`, 's'),
    );
    const { refund } = await sandbox.call<{ refund?: { status: string } }>('GET', `/v1/payments/${paymentId}`);
    assert.ok(refund);
  }

  /** The client for another language bears failures as the library does. */
  async function bearsFailures(interpreter: string, language: 'python' | 'php', file: string): Promise<void> {
    const gateway = await startFailingGateway();
    try {
      const env = { ...gateway.env, CLIENT_FOLDER: join(ROOT, 'clients', language), PYTHONDONTWRITEBYTECODE: '1' };
      const program = run([interpreter, join(ROOT, 'test/clients', file)], env);
      assert.equal(await program.end(), 0, program.output());
      const printed = program.output().trimEnd().split('\n');
      assert.deepEqual(
        printed.map((line) => JSON.parse(line)),
        EXPECTED_OF_FAILURES,
      );
      assert.deepEqual([gateway.posts.length, new Set(gateway.posts).size], [4, 1], 'each attempt has the same key');
      assert.deepEqual(gateway.keysSeenElsewhere, [], 'a redirect does not get the key');
    } finally {
      gateway.stop();
    }
  }

  /** A receiver that ships what a signed webhook tells, and refuses all others. */
  async function receivesWebhooks(
    command: (port: number) => readonly string[],
    code: (port: string) => Promise<unknown>,
  ) {
    const port = await findPort(systemWorld.random);
    await code(String(port));
    const program = run(command(port), { WEBHOOK_SECRET: SECRET });
    const body = JSON.stringify({ id: 'evt_1', type: 'payment.succeeded', data: { referenceId: 'ORDER-46 – Tee' } });
    const post = async (headers: Record<string, string>, text = body): Promise<number> => {
      const answer = await fetch(`http://127.0.0.1:${port}/hook`, { method: 'POST', headers, body: text });
      return answer.status;
    };
    const signed = await sign({ id: 'evt_1', body, secret: SECRET });
    await until('it takes requests', () =>
      post({}).then(
        (status) => status === 400,
        () => false,
      ),
    );
    assert.equal(await post(signed), 204);
    await program.prints('Ship ORDER-46 – Tee');
    assert.equal(await post(signed, body.replace('46', '47')), 400);
    assert.equal(await post({ ...signed, 'webhook-id': 'evt_2' }), 400);
    const old = await sign({ id: 'evt_1', body, secret: SECRET, timestampS: Math.floor(Date.now() / 1000) - 400 });
    assert.equal(await post(old), 400);
    const other = await sign({ id: 'evt_1', body, secret: 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=' });
    assert.equal(await post(other), 400);
    program.child.kill();
    assert.ok(!program.output().includes('ORDER-47'));
  }

  it('partners: makes a merchant, a destination and a payment, and follows it to its end', async () => {
    const blocks = await blocksOf('docs/partners.md', 'js');
    assert.ok(blocks.length > 3);
    const program = run([process.execPath, await writeProgram('take-a-payment.mjs', blocks.join('\n'))]);
    await payFor(program);
    assert.equal(await program.end(), 0, program.output());
    assert.match(program.output(), /has succeeded, by transaction 0x\w{64}\./);
  });

  it('README: a shop on the laptop ships when it is paid', async () => {
    const [, listenLine = '', shopLine = ''] =
      (await blocksOf('README.md', 'sh')).find((block) => block.includes('till -- listen'))?.split('\n') ?? [];
    const [shop = ''] = (await blocksOf('README.md', 'js')).filter((block) => block.includes('@till/sdk'));
    const port = String(await findPort(systemWorld.random));
    const onPort = (text: string) => text.replaceAll('3000', port);
    await writeProgram('shop.mjs', onPort(shop));
    const listening = run(
      ['sh', '-c', `exec ${onPort(listenLine)}`],
      { TILL_HOME: sandbox.home, npm_config_update_notifier: 'false' },
      ROOT,
    );
    await listening.prints(/Following .*, signed with whsec_\S+/);
    const program = run(['sh', '-c', `exec env ${onPort(shopLine).replace('node ', `${process.execPath} `)}`]);
    const paymentId = await payFor(program);
    await program.prints('Ship ORDER-42');
    await listening.prints(
      new RegExp(`payment.succeeded  ${paymentId}  10.00 USD  ORDER-42  your receiver took it \\(204\\) in \\d+ ms`),
    );
    assert.ok(!listening.output().includes(sandbox.apiKey), 'the key is not shown');
    listening.child.kill('SIGINT');
    assert.equal(await listening.end(), 0, listening.output());
    assert.match(listening.output(), /Stopped after \d+ events?\./);
  });

  it('client library: takes a payment by the program of its page', async () => {
    const code = (await blocksOf('sdk/README.md', 'js')).join('\n');
    const program = run([process.execPath, await writeProgram('sdk.mjs', code)]);
    const paymentId = await payFor(program);
    assert.equal(await program.end(), 0, program.output());
    assert.match(
      program.output(),
      new RegExp(`Ship ORDER-45\\n(pay_\\w{26}\\n)*${paymentId}\\n(pay_\\w{26}\\n)*ORDER-45\\n$`),
    );
  });

  it('client library: is packed, installed in another folder as its page says, type-checked and run there', async () => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'till-elsewhere-'));
    try {
      const [gateway, shop] = [join(elsewhere, 'till'), join(elsewhere, 'shop')];
      await Promise.all([mkdir(gateway), mkdir(shop)]);
      const text = await readFile(join(ROOT, 'docs/clients.md'), 'utf8');
      const [, pack = ''] = /`(npm pack [^`]+)`/.exec(text) ?? [];
      const [, install = ''] = /`(npm install [^`]+)`/.exec(text) ?? [];
      const { version } = JSON.parse(await readFile(join(ROOT, 'sdk/package.json'), 'utf8'));
      const npm = { npm_config_update_notifier: 'false', npm_config_fund: 'false', npm_config_audit: 'false' };
      // Only the place of the package differs from the page, so that the repository stays clean.
      const packed = run([...pack.split(' '), '--pack-destination', gateway], npm, ROOT);
      assert.equal(await packed.end(), 0, packed.output());
      const installed = run(install.replace('<version>', version).split(' '), npm, shop);
      assert.equal(await installed.end(), 0, installed.output());
      const names = await readdir(join(shop, 'node_modules/@till/sdk'));
      assert.deepEqual(names.sort(), ['LICENSE', 'README.md', 'dist', 'package.json']);

      // An order of its own: another test runs the same program in the folder of the gateway.
      const code = (await blocksOf('sdk/README.md', 'js')).join('\n').replace(/(order)-45/gi, '$1-49');
      await writeFile(join(shop, 'shop.mjs'), code);
      await writeFile(join(shop, 'shop.mts'), `declare const process: { env: Record<string, string> };\n${code}`);
      const tsc = [join(ROOT, 'node_modules/typescript/bin/tsc'), '--noEmit', '--strict', '--module', 'nodenext'];
      const checked = run([process.execPath, ...tsc, '--types', '', 'shop.mts'], {}, shop);
      assert.equal(await checked.end(), 0, checked.output());

      const program = run([process.execPath, 'shop.mjs'], {}, shop);
      await payFor(program);
      assert.equal(await program.end(), 0, program.output());
      assert.match(program.output(), /Ship ORDER-49\n/);
    } finally {
      await rm(elsewhere, { recursive: true, force: true });
    }
  });

  it('start: each program makes a payment', async () => {
    const page = 'docs/start.md';
    const [, curl = ''] = await blocksOf(page, 'sh');
    const [js = ''] = await blocksOf(page, 'js');
    const programs: [string, readonly string[]][] = [
      ['START-CURL', ['sh', '-ec', failing(curl)]],
      ['START-JS', [process.execPath, await writeProgram('start.mjs', js)]],
    ];
    if (missingPython() === false) {
      await copyFile(join(ROOT, 'clients/python/till.py'), join(folder, 'till.py'));
      const [code = ''] = await blocksOf(page, 'python');
      programs.push(['START-PYTHON', [pythonPath(), await writeProgram('start.py', code)]]);
    }
    if (missingPhp() === false) {
      await copyFile(join(ROOT, 'clients/php/till.php'), join(folder, 'till.php'));
      const [code = ''] = await blocksOf(page, 'php');
      programs.push(['START-PHP', [phpPath(), await writeProgram('start.php', code)]]);
    }
    for (const [referenceId, command] of programs) {
      const program = run(command);
      assert.equal(await program.end(), 0, program.output());
      const { data } = await sandbox.call<PaymentPage>('GET', `/v1/payments?referenceId=${referenceId}`);
      assert.equal(data.length, 1, referenceId);
      assert.ok(program.output().includes(data[0]?.paymentId ?? '?'), program.output());
    }
  });

  it('wallets: a wallet made of curl and viem pays', async () => {
    await symlink(join(ROOT, 'node_modules/viem'), join(folder, 'node_modules/viem')).catch(ignoreThere);
    const blocks = await blocksOf('docs/wallets.md', 'bash');
    const program = run(['bash', '-ec', failing(blocks.join('\n'))]);
    assert.equal(await program.end(), 0, program.output());
    assert.match(program.output(), /"status":\s*"succeeded"/);
  });

  it('x402: asks a program to pay, by the server of its page', async () => {
    const [code = ''] = await blocksOf('docs/x402.md', 'js');
    const program = run([process.execPath, await writeProgram('paywall.mjs', code)]);
    assert.equal(await program.end(), 0, program.output());
    assert.equal(program.output(), 'An agent is asked to pay: 402\n');
  });

  it('client library: verifies the webhooks of the gateway, also while their secret is rotated', async () => {
    const till = createTill(sandbox);
    const got: string[] = [];
    let secret = '';
    let paymentId = '';
    const server = createServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray());
      const verified = await verify(body, request.headers, secret).then(
        ({ type, data }) => `${type} ${data.id}`,
        String,
      );
      // Payments of other tests may end meanwhile.
      if (verified.endsWith(paymentId)) got.push(verified);
      response.writeHead(204).end();
    }).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    const endpoint = await till.webhookEndpoints.create({ url, events: ['payment.*'] });
    ({ secret } = endpoint);
    const order = { amount: { unit: 'iso4217/USD', value: '1000' }, referenceId: 'ORDER-47' };
    ({ paymentId } = await till.payments.create(order));
    await until('the first webhook has come', () => got.length === 1);
    await till.webhookEndpoints.rotateSecret(endpoint.id);
    await till.payments.cancel(paymentId);
    await until('the second webhook has come', () => got.length === 2);
    assert.deepEqual(got, [`payment.created ${paymentId}`, `payment.cancelled ${paymentId}`]);
    await till.webhookEndpoints.delete(endpoint.id);
  });

  it('client library: the example of every method works', async () => {
    const { paymentId } = await sandbox.createPayment('iso4217/USD', '1000');
    await payWith(sandbox, await sandbox.createWallet({ USDC: 10_000_000n }), paymentId, 'USDC');
    await runExamples(sandbox, paymentId);
  });

  it('Python: takes a payment, receives webhooks, and bears failures', {
    skip: missingPython(),
  }, async () => {
    await bearsFailures(pythonPath(), 'python', 'failures.py');
    await copyFile(join(ROOT, 'clients/python/till.py'), join(folder, 'till.py'));
    const [shop = '', hook = ''] = await blocksOf('docs/clients.md', 'python');
    await takesAPayment([pythonPath(), await writeProgram('shop.py', shop)], 'ORDER-43', LISTED);
    await receivesWebhooks(
      () => [pythonPath(), 'hook.py'],
      (port) => writeProgram('hook.py', hook.replace('3000', port)),
    );
  });

  it('PHP: takes a payment, receives webhooks, and bears failures', {
    skip: missingPhp(),
  }, async () => {
    await bearsFailures(phpPath(), 'php', 'failures.php');
    await copyFile(join(ROOT, 'clients/php/till.php'), join(folder, 'till.php'));
    const [shop = '', hook = ''] = await blocksOf('docs/clients.md', 'php');
    await takesAPayment([phpPath(), await writeProgram('shop.php', shop)], 'ORDER-44', LISTED);
    await receivesWebhooks(
      (port) => [phpPath(), '-S', `127.0.0.1:${port}`, 'hook.php'],
      () => writeProgram('hook.php', hook),
    );
  });

  it('README: the requests make, find and refund a payment', async () => {
    const [block = ''] = (await blocksOf('README.md', 'sh')).filter((text) => text.includes('curl'));
    const [make = '', follow = ''] = block.split(/^PAYMENT=.*$/m);
    const made = run(['sh', '-ec', failing(make)]);
    const paymentId = await payFor(made);
    assert.equal(await made.end(), 0, made.output());
    await sandbox.call('GET', `/v1/payments/${paymentId}/status?maxPollMs=20000`);
    const values = make.split('\n').filter((line) => /^[A-Z_]+=/.test(line));
    const followed = run(['sh', '-ec', failing([...values, `PAYMENT=${paymentId}`, follow].join('\n'))]);
    assert.equal(await followed.end(), 0, followed.output());
    assert.match(followed.output(), /^\{"status":"succeeded"/);
    const { refund } = await sandbox.call<{ refund?: object }>('GET', `/v1/payments/${paymentId}`);
    assert.ok(refund);
  });

  // The last test: it moves the clock of the sandbox and changes the merchant.
  it('curl: the requests of the other pages are answered', async () => {
    await writeFile(join(folder, 'logo.png'), pngLogo([99, 91, 255]));
    const usdc = 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
    for (const page of [
      'docs/accepted-assets.md',
      'docs/branding.md',
      'docs/payment-links.md',
      'docs/webhooks.md',
      'docs/sandbox.md',
    ]) {
      const blocks = (await blocksOf(page, 'sh')).filter((block) => block.includes('curl '));
      assert.ok(blocks.length > 0, page);
      for (const block of blocks) {
        const program = run(['sh', '-ec', failing(block.replaceAll(usdc, sandbox.assetOf('USDC')))]);
        assert.equal(await program.end(), 0, `${page}: ${program.output()}`);
      }
    }
  });
});

/** Commands whose requests fail when they are refused. The port of the pages is that of `npm start`. */
function failing(commands: string): string {
  return commands.replaceAll(/\bcurl /g, 'curl --fail-with-body -sS ').replace('TILL_URL=http://localhost:8080\n', '');
}

function ignoreThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

/** The output of cancel, refunds, links and events. */
const LISTED = 'Cancelled 1\\nRefunds 1\\nLinks True\\nEvents 1\\n';

function named(headers: IncomingHttpHeaders, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
  );
}
