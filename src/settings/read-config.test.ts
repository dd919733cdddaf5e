import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { gasBudgets } from './chains.ts';
import { type Config, SETTINGS } from './config.ts';
import { valueOn } from './network-kinds.ts';
import { describeConfig, readConfig, readStartConfig } from './read-config.ts';
import { secretValues } from './secret-values.ts';

const ALICE = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const BOB = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359';
const KEY = `0x${'1a'.repeat(32)}`;
const OTHER_KEY = `0x${'2b'.repeat(32)}`;
const SECRET = Buffer.from(Array.from({ length: 32 }, (_, index) => index)).toString('base64');
const ACCOUNTS = { FEE_ACCOUNT: ALICE, INTERMEDIATE_ACCOUNT: BOB };

function read(environment: Record<string, string>): Config {
  const result = readConfig(environment);
  assert.ok('config' in result, 'problems' in result ? result.problems.join('; ') : '');
  return result.config;
}

function problemsOf(environment: Record<string, string>): string[] {
  const result = readConfig(environment);
  return 'problems' in result ? result.problems : [];
}

describe('settings of networks', () => {
  it('may name networks of the operator’s own folder', () => {
    const folder = mkdtempSync(join(tmpdir(), 'till-networks-'));
    const record = {
      id: 'eip155:777777',
      name: 'Own Chain',
      mode: 'test',
      coin: { symbol: 'OWN', name: 'Own coin', decimals: 18, slip44: 60 },
      blockTimeMs: 1_000,
      finality: { depth: 2, reason: 'one process makes all blocks' },
      gas: { priceCap: '12.5', costPerHour: '40' },
      tokens: [],
    };
    try {
      writeFileSync(join(folder, 'own.json'), JSON.stringify(record));
      const environment = { ...ACCOUNTS, RPC_URLS: 'eip155:777777=https://a.example,https://b.example' };
      assert.match(problemsOf(environment).join(), /^RPC_URLS names eip155:777777, which is no network/);
      const config = read({ ...environment, NETWORKS_DIR: folder, FINALITY_DEPTHS: 'eip155:777777=6' });
      assert.equal(config.registry.network('eip155:777777')?.name, 'Own Chain');
      const { feeCap, costPerHour } = gasBudgets(config);
      assert.deepEqual(
        [feeCap('eip155:777777'), costPerHour('eip155:777777'), feeCap('eip155:8453')],
        [12_500_000_000n, 40n * 10n ** 18n, 1_000n * 10n ** 9n],
      );
      writeFileSync(join(folder, 'own.json'), '{');
      const [problem] = problemsOf({ ...environment, NETWORKS_DIR: folder });
      assert.match(problem ?? '', /own\.json:1:2 ends where a field in double quotes should be\./);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('are all unset for the sandbox', () => {
    const config = read({});
    assert.deepEqual(
      [config.rpcUrls, config.relayerKeys, config.feeAccount, config.sandboxBlockMs],
      [undefined, undefined, undefined, 250],
    );
  });

  it('name endpoints, keys and accounts by network', () => {
    const config = read({
      RPC_URLS: ' eip155:8453=https://a.example/v2/k,https://b.example\n eip155:1=http://10.0.0.7:8545 ',
      RELAYER_KEYS: `${KEY.toUpperCase().replace('0X', '0x')},${OTHER_KEY} eip155:1=${OTHER_KEY}`,
      FEE_ACCOUNT: ALICE.toLowerCase(),
      INTERMEDIATE_ACCOUNT: `eip155:8453=${ALICE} ${BOB}`,
      RELAYER_MIN_BALANCE: '0.05 eip155:137=5',
      FINALITY_DEPTHS: 'eip155:1=6,20@10000',
    });
    assert.deepEqual(config.rpcUrls?.get('eip155:8453'), ['https://a.example/v2/k', 'https://b.example']);
    assert.deepEqual(config.rpcUrls?.get('eip155:1'), ['http://10.0.0.7:8545']);
    assert.deepEqual(valueOn(config.relayerKeys, 'eip155:8453'), [KEY, OTHER_KEY]);
    assert.deepEqual(valueOn(config.relayerKeys, 'eip155:1'), [OTHER_KEY]);
    assert.equal(valueOn(config.feeAccount, 'eip155:1'), ALICE);
    assert.equal(valueOn(config.intermediateAccount, 'eip155:8453'), ALICE);
    assert.equal(valueOn(config.intermediateAccount, 'eip155:1'), BOB);
    assert.equal(valueOn(config.relayerMinBalance, 'eip155:1'), 50_000_000_000_000_000n);
    assert.equal(valueOn(config.relayerMinBalance, 'eip155:137'), 5_000_000_000_000_000_000n);
    assert.deepEqual(valueOn(config.finalityDepths, 'eip155:1'), [
      { depth: 6, from: 0n },
      { depth: 20, from: 10_000n },
    ]);
  });

  const wrong: readonly [env: Record<string, string>, expected: RegExp][] = [
    [{ RPC_URLS: 'https://a.example' }, /^RPC_URLS must name a network/],
    [{ RPC_URLS: 'eip155:8453=' }, /^RPC_URLS must be http\(s\) URLs for eip155:8453/],
    [{ RPC_URLS: 'eip155:8453=wss://a.example' }, /^RPC_URLS must be http\(s\) URLs/],
    [{ RPC_URLS: 'eip155:8453=https://a.example,https://a.example' }, /^RPC_URLS repeats one of its endpoints/],
    [{ RPC_URLS: 'eip155:1=https://a.example eip155:1=https://b.example' }, /^RPC_URLS names eip155:1 twice/],
    ...[
      'https://a.example,https://A.example/',
      'https://a.example/v3/key,https://a.example:443/v3//key/',
      'https://a.example,http://a.example',
      'https://a.example/key,https://a.example./%6bey',
      'https://a.example/?a=1&b=2,https://a.example/?b=2&a=1',
      'https://a.example/key,https://user:word@a.example/key',
      'http://127.0.0.1:8545,http://2130706433:8545/',
    ].map((urls): [env: Record<string, string>, expected: RegExp] => [
      { RPC_URLS: `eip155:1=${urls}` },
      /^RPC_URLS repeats one of its endpoints/,
    ]),
    [{ RPC_URLS: 'eip155:424242=https://a.example' }, /^RPC_URLS names eip155:424242, which is no network/],
    [{ RELAYER_KEYS: '0x1234' }, /^RELAYER_KEYS must be private keys/],
    [{ RELAYER_KEYS: `0x${'00'.repeat(32)}` }, /^RELAYER_KEYS must be private keys/],
    [{ RELAYER_KEYS: `0x${'ff'.repeat(32)}` }, /^RELAYER_KEYS must be private keys/],
    [{ RELAYER_KEYS: `${KEY},${KEY}` }, /^RELAYER_KEYS repeats one of its keys/],
    [{ FEE_ACCOUNT: ALICE.replace('5aA', '5AA') }, /^FEE_ACCOUNT has an address with a wrong EIP-55 checksum/],
    [{ RELAYER_KEYS: ALICE }, /^RELAYER_KEYS has addresses, and EXTERNAL_SIGNER_URL/],
    [{ EXTERNAL_SIGNER_URL: 'unix:/x' }, /^EXTERNAL_SIGNER_URL must be http/],
    [{ FEE_ACCOUNT: 'alice' }, /^FEE_ACCOUNT has an address that is not 0x/],
    [{ RELAYER_MIN_BALANCE: '-1' }, /^RELAYER_MIN_BALANCE must be an amount/],
    [{ GAS_PRICE_CAP: '1e3' }, /^GAS_PRICE_CAP must be gwei/],
    [{ GAS_PER_ITEM: '1.5' }, /^GAS_PER_ITEM must be a whole number of units of gas/],
    [{ FINALITY_DEPTHS: '6' }, /^FINALITY_DEPTHS must name a network/],
    [{ FINALITY_DEPTHS: 'eip155:1=1' }, /^FINALITY_DEPTHS must be whole numbers of blocks from 2/],
    [{ RPC_URLS: 'eip155:1=https://a.example' }, /^FEE_ACCOUNT must name an account on eip155:1/],
    [{ RATE_SOURCES: 'nonsense' }, /^RATE_SOURCES /],
    [{ SANDBOX_RPC_PORT: '70000' }, /^SANDBOX_RPC_PORT must be/],
    [{ TILL_SECRET: 'hunter2!' }, /^TILL_SECRET must be base64$/],
    [{ TILL_SECRET: SECRET.slice(0, 40) }, /^TILL_SECRET must be base64 of at least 32 bytes$/],
    [{ TILL_SECRET: 'A'.repeat(44) }, /^TILL_SECRET must be random bytes/],
    [{ TILL_SECRET: [SECRET, SECRET, SECRET].join() }, /^TILL_SECRET must be at most 2 secrets$/],
    [{ TILL_SECRET: SECRET, TILL_SECRET_FILE: '/run/secrets/till' }, /^TILL_SECRET and TILL_SECRET_FILE are both set$/],
  ];
  for (const [env, expected] of wrong) {
    it(`are refused when they are ${JSON.stringify(env)}`, () => {
      assert.match(problemsOf(env)[0] ?? '', expected);
    });
  }

  it('need no accounts for the sandbox chain of another node', () => {
    assert.deepEqual(problemsOf({ RPC_URLS: 'eip155:31337=http://127.0.0.1:8545' }), []);
  });

  it('repeat no secret when they are wrong, shown or logged', () => {
    const secrets = ['hunter2hunter2', 'userinfo', 'path-key-0123456789', 'query-key-0123456789'];
    const url = `https://${secrets[1]}:${secrets[0]}@rpc.example/v2/${secrets[2]}?key=${secrets[3]}`;
    const good = { ...ACCOUNTS, RPC_URLS: `eip155:1=${url}`, RELAYER_KEYS: KEY, TILL_SECRET: SECRET };
    const config = read(good);
    const struck = secretValues(config);
    for (const secret of [...secrets, url, KEY, KEY.slice(2), SECRET.replaceAll('=', '')])
      assert.ok(struck.includes(secret), secret);
    assert.ok(!struck.includes('v2') && !struck.includes(''));
    const shown = JSON.stringify(describeConfig(config));
    const logged = JSON.stringify([
      problemsOf({ ...good, RPC_URLS: `eip155:1=${url},ftp://x` }),
      problemsOf({ ...good, RPC_URLS: `eip155:1=${url} eip155:1=${url}` }),
      problemsOf({ ...good, RELAYER_KEYS: `${KEY}00` }),
    ]);
    for (const secret of [...secrets, KEY.slice(2), SECRET])
      assert.ok(!shown.includes(secret) && !logged.includes(secret), secret);
    assert.ok(describeConfig(config).some(({ setting, value }) => setting === 'FEE_ACCOUNT' && value === ALICE));
  });
});

describe('settings that contain private keys', () => {
  const keys = Object.values(SETTINGS).filter(({ kind }) => kind.name.startsWith('private key'));

  it('are three: relayers, and the present and other intermediate accounts', () => {
    const envs = keys.map(({ env }) => env);
    assert.deepEqual(envs, ['RELAYER_KEYS', 'INTERMEDIATE_KEY', 'OTHER_INTERMEDIATE_KEYS']);
  });

  for (const { env } of keys) {
    it(`are masked in the log: ${env}, for every network and for one`, () => {
      const struck = secretValues(read({ ...ACCOUNTS, [env]: `${KEY} eip155:1=${OTHER_KEY}` }));
      for (const key of [KEY, OTHER_KEY]) {
        assert.ok(struck.includes(key), key);
        assert.ok(struck.includes(key.slice(2)), key.slice(2));
      }
    });
  }
});

describe('a sandbox', () => {
  const DATABASE_URL = 'postgres://u:hunter2@127.0.0.1:1/x';
  const RPC_URLS = 'eip155:31337=http://127.0.0.1:8545';
  const startProblems = (environment: Record<string, string>) => {
    const result = readStartConfig(environment);
    return 'problems' in result ? result.problems : [];
  };

  it('is started with nothing configured, when it is asked for, or on a sandbox chain that is named', () => {
    assert.deepEqual(startProblems({}), []);
    assert.deepEqual(startProblems({ SANDBOX: '1' }), []);
    assert.deepEqual(startProblems({ DATABASE_URL, SANDBOX: '1' }), []);
    assert.deepEqual(startProblems({ DATABASE_URL, RPC_URLS }), []);
  });

  it('is not started in a database by mistake', () => {
    const [problem = '', ...more] = startProblems({ DATABASE_URL });
    assert.match(problem, /^RPC_URLS must name the networks.*set SANDBOX=1$/);
    assert.deepEqual(more, []);
    assert.match(startProblems({ SANDBOX: '0' })[0] ?? '', /^RPC_URLS must name the networks.*SANDBOX is 0$/);
    assert.deepEqual(problemsOf({ DATABASE_URL }), [], 'an operator command needs no more than the database');
  });

  it('alone starts without a master secret: a live network needs one', () => {
    const live = { ...ACCOUNTS, DATABASE_URL, RPC_URLS: 'eip155:1=https://a.example' };
    assert.match(startProblems(live)[0] ?? '', /^TILL_SECRET or TILL_SECRET_FILE must be set/);
    assert.deepEqual(startProblems({ ...live, TILL_SECRET: SECRET }), []);
    assert.deepEqual(startProblems({ ...live, TILL_SECRET: `${SECRET}, ${SECRET}` }), []);
    assert.deepEqual(startProblems({ ...live, TILL_SECRET_FILE: '/run/secrets/till' }), []);
  });

  it('has no real networks', () => {
    const real = { ...ACCOUNTS, RPC_URLS: 'eip155:1=https://a.example' };
    assert.deepEqual(problemsOf({ ...real, SANDBOX: '1' }), ['SANDBOX is 1, and RPC_URLS names eip155:1']);
    assert.deepEqual(problemsOf({ ...real, SANDBOX: '0' }), []);
    assert.deepEqual(problemsOf({ RPC_URLS, SANDBOX: '0' }), ['SANDBOX is 0, and RPC_URLS names the sandbox chain']);
    assert.match(problemsOf({ SANDBOX: 'yes' })[0] ?? '', /^SANDBOX must be 1 or 0/);
  });
});
