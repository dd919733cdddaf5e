import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mnemonicToAccount } from 'viem/accounts';
import { SETTINGS } from './config.ts';
import { productionRisks } from './production-risks.ts';
import { readConfig, readStartConfig } from './read-config.ts';

const ALICE = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const JUNK = 'test test test test test test test test test test test junk';
const KEYS = Object.values(SETTINGS)
  .filter(({ kind }) => kind.name.startsWith('private key'))
  .map(({ env }) => env);
/** A gateway with a live network and no risk. */
const GOOD = {
  PUBLIC_URL: 'https://till.example',
  DATABASE_URL: 'postgres://till:tq7Yx0vK@db.example/till?sslmode=verify-full',
  RPC_URLS: 'eip155:8453=https://a.example,https://b.example',
  RELAYER_KEYS: `0x${'1a'.repeat(32)}`,
  FEE_ACCOUNT: ALICE,
  INTERMEDIATE_ACCOUNT: ALICE,
  SCREENING_LIST: './list.txt',
  TILL_SECRET: Buffer.from(Array.from({ length: 32 }, (_, index) => index)).toString('base64'),
};

/** The risks by name; refused ones with an exclamation mark. */
function risksOf(changes: Record<string, string>): string[] {
  const read = readConfig({ ...GOOD, ...changes });
  assert.ok('config' in read, 'problems' in read ? read.problems.join('; ') : '');
  return productionRisks(read.config).map(({ name, isRefused }) => `${name}${isRefused ? '!' : ''}`);
}

const startProblems = (changes: Record<string, string>): string[] => {
  const read = readStartConfig({ ...GOOD, ...changes });
  return 'problems' in read ? read.problems : [];
};

describe('risks in production', () => {
  it('are none with TLS everywhere, two endpoints and a screening list', () => {
    assert.deepEqual(risksOf({}), []);
    assert.deepEqual(startProblems({}), []);
  });

  const cases: readonly [setting: string, value: string, risks: string[]][] = [
    ['PUBLIC_URL', 'http://till.example', ['public_url_plain_http!']],
    ['PUBLIC_URL', 'http://10.0.0.5:8080', ['public_url_plain_http!']],
    ['PUBLIC_URL', 'http://localhost:8080', ['public_url_plain_http']],
    ['RPC_URLS', 'eip155:8453=http://a.example,https://b.example', ['rpc_plain_http!']],
    ['RPC_URLS', 'eip155:8453=http://93.184.215.14,https://b.example', ['rpc_plain_http!']],
    ['RPC_URLS', 'eip155:8453=http://10.0.0.7:8545,http://a.example', ['rpc_plain_http!']],
    ['RPC_URLS', 'eip155:8453=http://10.0.0.7:8545,http://geth:8545', ['rpc_plain_http']],
    ['RPC_URLS', 'eip155:8453=http://node.internal,http://[fd00::7]:8545', ['rpc_plain_http']],
    ['RPC_URLS', 'eip155:8453=http://127.0.0.1:8545,http://[::1]:8545', []],
    ['RPC_URLS', 'eip155:8453=https://a.example', ['single_endpoint']],
    ['EXTERNAL_SIGNER_URL', 'http://signer.example', ['signer_plain_http!']],
    ['EXTERNAL_SIGNER_URL', 'http://signer:9000', ['signer_plain_http']],
    ['EXTERNAL_SIGNER_URL', 'http://localhost:9000', []],
    ['DATABASE_URL', 'postgres://till:tq7Yx0vK@db.example/till', ['database_without_tls!']],
    ['DATABASE_URL', 'postgres://till:tq7Yx0vK@db.example/till?sslmode=disable', ['database_without_tls!']],
    ['DATABASE_URL', 'postgres://till:tq7Yx0vK@10.0.0.9/till', ['database_without_tls']],
    ['DATABASE_URL', 'postgres://till:tq7Yx0vK@db.example/till?sslmode=require', ['database_tls_unverified']],
    ['DATABASE_URL', 'postgres://till:tq7Yx0vK@10.0.0.9/till?sslmode=prefer', ['database_tls_unverified']],
    ['DATABASE_URL', 'postgres://till:tq7Yx0vK@127.0.0.1/till', []],
    ['DATABASE_URL', 'postgres://till@localhost/till?host=/var/run/postgresql', []],
    ['DATABASE_URL', 'postgres://till:till@db.example/till?sslmode=verify-full', ['default_database_password!']],
    ['DATABASE_URL', 'postgres://app:postgres@10.0.0.9/till?sslmode=verify-ca', ['default_database_password!']],
    ['DATABASE_URL', 'postgres://till:till@127.0.0.1/till', ['default_database_password']],
    ['INTERMEDIATE_KEY', `0x${'2b'.repeat(32)}`, ['no_budget']],
    ['INTERMEDIATE_KEY', `eip155:1=0x${'2b'.repeat(32)}`, []],
    ['SCREENING_LIST', '', ['no_screening_list']],
  ];
  for (const [setting, value, risks] of cases) {
    it(`of ${setting}=${value} are ${risks.join(', ') || 'none'}`, () => {
      assert.deepEqual(risksOf({ [setting]: value }), risks);
      const isRefused = risks.some((risk) => risk.endsWith('!'));
      assert.equal(startProblems({ [setting]: value }).length, isRefused ? 1 : 0, 'a refused risk stops the start');
    });
  }

  it('are keys that development chains publish', () => {
    for (let addressIndex = 0; addressIndex < 10; addressIndex += 1) {
      const { privateKey } = mnemonicToAccount(JUNK, { addressIndex }).getHdKey();
      const key = `0x${Buffer.from(privateKey ?? []).toString('hex')}`;
      assert.deepEqual(risksOf({ RELAYER_KEYS: key }), ['published_key!'], `account ${addressIndex}`);
      for (const env of KEYS) {
        const risks = risksOf({ [env]: `eip155:8453=${key}`, OUTGOING_PER_HOUR: '1000' });
        assert.deepEqual(risks, ['published_key!'], `${env}, account ${addressIndex}`);
      }
    }
  });

  it('do not stop the start once the operator has accepted them by name, and stay visible', () => {
    const risky = { PUBLIC_URL: 'http://till.example', EXTERNAL_SIGNER_URL: 'http://signer.example' };
    assert.deepEqual(risksOf(risky), ['public_url_plain_http!', 'signer_plain_http!']);
    const accepted = { ...risky, ACCEPT_RISKS: 'public_url_plain_http, signer_plain_http' };
    assert.deepEqual(risksOf(accepted), ['public_url_plain_http', 'signer_plain_http']);
    assert.deepEqual(startProblems(accepted), []);
    const unknown = readConfig({ ...GOOD, ACCEPT_RISKS: 'everything' });
    assert.match('problems' in unknown ? (unknown.problems[0] ?? '') : '', /^ACCEPT_RISKS must list names of risks/);
  });

  it('are none where all money is play money', () => {
    const read = readConfig({ PUBLIC_URL: 'http://till.example', DATABASE_URL: 'postgres://a:a@db.example/a' });
    assert.ok('config' in read);
    assert.deepEqual(productionRisks(read.config), []);
    assert.deepEqual(risksOf({ RPC_URLS: 'eip155:84532=http://a.example', PUBLIC_URL: 'http://till.example' }), []);
  });

  it('say in their messages nothing that a stranger could use', () => {
    const changes = {
      PUBLIC_URL: 'http://host-one.example',
      RPC_URLS: 'eip155:8453=http://host-two.example/key-of-ours',
      EXTERNAL_SIGNER_URL: 'http://host-three.example',
      DATABASE_URL: 'postgres://till:till@host-four.example/till',
    };
    const read = readConfig({ ...GOOD, ...changes });
    assert.ok('config' in read);
    const text = productionRisks(read.config)
      .map(({ message }) => message)
      .join(' ');
    assert.match(text, /PUBLIC_URL.*RPC_URLS.*EXTERNAL_SIGNER_URL.*DATABASE_URL/);
    assert.doesNotMatch(text, /host-|key-of-ours/);
  });
});
