import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { until } from '../until.ts';
import { type Sandbox, startSandbox } from '../wallet-sdk/sandbox.ts';
import { payWith } from './sandbox-payer.ts';

const GUIDE = join(import.meta.dirname, '../../docs/partners.md');

describe('the program of the partners’ guide', () => {
  let sandbox: Sandbox;
  let folder: string;
  before(async () => {
    [sandbox, folder] = await Promise.all([startSandbox(), mkdtemp(join(tmpdir(), 'till-guide-'))]);
  });
  after(async () => {
    await sandbox.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** The blocks of code of the guide, as one file. */
  async function writeProgram(): Promise<string> {
    const blocks = [...(await readFile(GUIDE, 'utf8')).matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code);
    assert.ok(blocks.length > 3);
    const file = join(folder, 'take-a-payment.mjs');
    await writeFile(file, blocks.join('\n'));
    return file;
  }

  it('makes a merchant, a destination and a payment, and follows it to its end', async () => {
    const env = { PATH: process.env.PATH, TILL_URL: sandbox.baseUrl, API_KEY: sandbox.apiKey };
    const program = spawn(process.execPath, [await writeProgram()], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [program.stdout, program.stderr]) stream.on('data', (bytes) => (output += bytes));
    const ended = once(program, 'close');
    await until('it says where to pay', () => output.includes('?pid=') || program.exitCode !== null);
    const [paymentId] = /pay_\w{26}/.exec(output) ?? [];
    assert.ok(paymentId, output);
    const wallet = await sandbox.createWallet({ USDC: 10_000_000n });
    await payWith(sandbox, wallet, paymentId, 'USDC');
    assert.deepEqual([(await ended)[0], /has succeeded, by transaction 0x\w{64}\./.test(output)], [0, true], output);
  });
});
