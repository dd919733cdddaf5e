import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { createUnusedDatabase, type TestDatabase } from '../../../test/database.ts';
import { runCommand } from '../../../test/run-command.ts';
import { CTRL_C, DOWN, ENTER, missingScript, openTypedTerminal, runAtTerminal } from '../../../test/typed-terminal.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import { type SandboxChain, startSandboxChain } from '../../sandbox/chain-process.ts';
import { findPort } from '../../sandbox/free-port.ts';
import { readEnvText } from '../../settings/env-file.ts';

const FEES = '0x2222222222222222222222222222222222222222';
const NETWORK = 'eip155:31337';

describe('till init at a terminal', () => {
  let folder: string;
  let chain: SandboxChain;
  let database: TestDatabase;
  let port: number;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'till-init-terminal-'));
    const deps = { world: systemWorld, log: pino({ level: 'silent' }) };
    chain = await startSandboxChain(deps, { dir: join(folder, 'chain'), blockMs: 100 });
    database = await createUnusedDatabase();
    port = await findPort(systemWorld.random);
  });
  after(async () => {
    await database.drop();
    await chain.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** The questions in order, and what a person types. The sandbox is the only network that has an endpoint here. */
  const typed = (): (readonly [words: string, keys: string])[] => [
    ['(NETWORKS_DIR)', ENTER],
    ['Networks to take payments on', ENTER],
    ['(DATABASE_URL)', `${database.url}${ENTER}`],
    ['(DATABASE_MIGRATE_URL)', ENTER],
    ['(TILL_SECRET_FILE)', ENTER],
    ['(TILL_SECRET)', ENTER],
    ['(HOST)', ENTER],
    ['(PORT)', `${port}${ENTER}`],
    ['(PUBLIC_URL)', ENTER],
    ['(TRUST_PROXY)', ENTER],
    [`(RPC_URLS ${NETWORK})`, `${chain.rpcUrl}${ENTER}`],
    ['(EXTERNAL_SIGNER_URL)', ENTER],
    ['(RELAYER_KEYS)', ENTER],
    ['(INTERMEDIATE_KEY)', ENTER],
    ['(FEE_ACCOUNT)', `${FEES}${ENTER}`],
    ['Exchange rates', `${DOWN}${ENTER}`],
    ['(SCREENING_LIST)', ENTER],
    ['(SMTP_URL)', ENTER],
    ['(operator name)', `Ada${ENTER}`],
    ['(operator email)', `ada@till.example${ENTER}`],
    ['(partner name)', `Shop Ltd${ENTER}`],
    ['Write the file', ENTER],
  ];

  function start(file: string) {
    const typing = openTypedTerminal();
    // The environment chooses the network, and no rates, which a test does not ask the world for.
    const env = { RPC_URLS: `${NETWORK}=${chain.rpcUrl}`, RATE_SOURCES: '' };
    const running = runCommand(['init', '--file', file], { env, terminal: typing.terminal });
    return { ...typing, running };
  }

  const keyIn = (text: string) => readEnvText(text).RELAYER_KEYS ?? '';

  it('asks, checks, shows what changes, and writes the file', async () => {
    const file = join(folder, 'asked.env');
    const { type, screen, running } = start(file);
    for (const [words, keys] of typed()) {
      if (words === '(PORT)') {
        await type(words, `99999${ENTER}`);
        await type('PORT must be a whole number from 1 to 65535', '');
      }
      await type(words, keys);
    }
    const { exitCode, stdout, stderr } = await running;
    assert.equal(exitCode, 0, stderr);
    const text = await readFile(file, 'utf8');
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal(readEnvText(text).PORT, String(port));
    assert.match(screen(), new RegExp(`relayer ${NETWORK}:0x[0-9a-fA-F]{40}: 0 coin`));
    assert.match(screen(), /What changes in .*asked\.env:/);
    assert.match(stdout, /Person invited\.[\s\S]*Partner created\.[\s\S]*Missing before the first payment:/);
    for (const secret of [keyIn(text), readEnvText(text).TILL_SECRET ?? '', readEnvText(text).INTERMEDIATE_KEY ?? '']) {
      assert.ok(secret.length > 40);
      assert.equal(`${screen()}${stdout}`.includes(secret.slice(2)), false, 'a secret is shown');
    }
    assert.equal(existsSync(`${file}.draft`), false);
  });

  it('asks at a real terminal, and ends', { skip: missingScript() }, async () => {
    const cwd = await mkdtemp(join(folder, 'real-'));
    const env = { RPC_URLS: `${NETWORK}=${chain.rpcUrl}` };
    const program = join(import.meta.dirname, '../till.ts');
    const { type, screen, ended, kill } = runAtTerminal([process.execPath, program, 'init'], { cwd, env });
    try {
      for (const [words, keys] of typed()) await type(words, keys);
      await type('Missing before the first payment:', '');
      assert.equal(await ended, 0, screen());
      const values = readEnvText(await readFile(join(cwd, 'till.env'), 'utf8'));
      assert.equal(values.FEE_ACCOUNT, FEES);
      assert.equal(screen().includes(values.RELAYER_KEYS?.slice(2) ?? ''), false, 'a secret is shown');
    } finally {
      kill();
    }
  });

  it('loses nothing when it is interrupted, at whichever question', async () => {
    const file = join(folder, 'interrupted.env');
    let key = '';
    for (const [index, [words]] of typed().entries()) {
      const { type, running } = start(file);
      for (const [asked, keys] of typed().slice(0, index)) {
        // Every answer but the newest is suggested.
        const isNew = asked === typed()[index - 1]?.[0];
        await type(asked, isNew ? keys : ENTER);
      }
      await type(words, CTRL_C);
      const { exitCode, stderr } = await running;
      assert.equal(exitCode, 1);
      assert.equal(
        stderr,
        `invalid_state: The set-up was interrupted: ${file} and the database are unchanged. Run init again${index === 0 ? '' : `: it suggests your answers, from ${file}.draft`}.\n`,
      );
      assert.equal(existsSync(file), false, words);
      if (index === 0) continue;
      assert.equal((await stat(`${file}.draft`)).mode & 0o777, 0o600);
      const draft = JSON.parse(await readFile(`${file}.draft`, 'utf8'));
      assert.equal(Object.keys(draft).filter((id) => id !== 'RATE_SOURCES').length, Math.min(index, 21), words);
      if (key !== '') assert.equal(draft.RELAYER_KEYS, key, 'a key whose address was shown is kept');
      key = draft.RELAYER_KEYS ?? key;
    }
    const { type, running } = start(file);
    for (const [words] of typed()) await type(words, ENTER);
    const { exitCode, stderr } = await running;
    assert.equal(exitCode, 0, stderr);
    assert.equal(keyIn(await readFile(file, 'utf8')), key);
    assert.equal(existsSync(`${file}.draft`), false);
  });
});
