import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { NO_SCREENING } from './screening.ts';
import { parseScreeningList } from './screening-list.ts';

const HEADER = '# version: sdn-7\n# date: 2026-03-01\n';
const ANYWHERE = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045';
const ON_BASE = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const LIST = `${HEADER}${ANYWHERE} # all EVM networks\n\neip155:8453:${ON_BASE}\n${SOLANA}\nbip122:000000000019d6689c085ae165831e93:1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa\n`;

const bytesOf = (text: string) => new TextEncoder().encode(text);

function listOf(text: string) {
  const parsed = parseScreeningList(bytesOf(text));
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.problem);
  return parsed.value;
}

function problemOf(text: string): string {
  const parsed = parseScreeningList(bytesOf(text));
  assert.ok(!parsed.ok);
  return parsed.problem;
}

describe('a screening list', () => {
  it('is named by its hash, version and date in every decision', () => {
    const hash = createHash('sha256').update(LIST).digest('hex');
    assert.deepEqual(listOf(LIST).decide([]), { hits: [], list: { hash, version: 'sdn-7', date: '2026-03-01' } });
  });

  it('finds a bare address on every EVM network, in any spelling', () => {
    const accounts = [
      `eip155:1:${ANYWHERE}`,
      `eip155:8453:${ANYWHERE.toLowerCase()}`,
      `eip155:137:0x${ANYWHERE.slice(2).toUpperCase()}`,
    ];
    assert.deepEqual(listOf(LIST).decide(accounts).hits, accounts);
    assert.deepEqual(listOf(LIST.replace(ANYWHERE, ANYWHERE.toLowerCase())).decide(accounts).hits, accounts);
    assert.deepEqual(listOf(LIST.replace(ANYWHERE, ANYWHERE.toUpperCase())).decide(accounts).hits, accounts);
  });

  it('finds an account of one network on that network alone', () => {
    const { hits } = listOf(LIST).decide([`eip155:8453:${ON_BASE.toLowerCase()}`, `eip155:1:${ON_BASE}`]);
    assert.deepEqual(hits, [`eip155:8453:${ON_BASE.toLowerCase()}`]);
  });

  it('distinguishes Solana accounts by case', () => {
    assert.deepEqual(listOf(LIST).decide([SOLANA, SOLANA.replace('EPjF', 'EpjF')]).hits, [SOLANA]);
  });

  it('matches no other account', () => {
    const other = `eip155:1:0x${'1'.repeat(40)}`;
    assert.deepEqual(listOf(LIST).decide([other, '', 'eip155', ':', ANYWHERE.slice(2)]).hits, []);
  });

  it('reads files as editors leave them', () => {
    const list = listOf(`\ufeff${LIST.replaceAll('\n', '\r\n')}`);
    assert.equal(list.identity.version, 'sdn-7');
    assert.deepEqual(list.decide([`eip155:1:${ANYWHERE}`]).hits.length, 1);
  });

  it('must have a version, a real day, and an account', () => {
    assert.match(problemOf(ANYWHERE), /version/);
    assert.match(problemOf(`# version: \n# date: 2026-03-01\n${ANYWHERE}`), /version/);
    assert.match(problemOf(`# version: 1\n${ANYWHERE}`), /day/);
    assert.match(problemOf(`# version: 1\n# date: 2026-02-30\n${ANYWHERE}`), /day/);
    assert.match(problemOf(`# version: 1\n${ANYWHERE}\n# date: 2026-03-01`), /day/);
    assert.match(problemOf(HEADER), /no account/);
    assert.match(problemOf(''), /version/);
  });

  it('is unusable as a whole when one line is, and says which', () => {
    const wrong = [
      ANYWHERE.slice(0, -1),
      `${ANYWHERE}0`,
      'alice',
      `eip155:1:${ANYWHERE.slice(0, 20)}`,
      `eip155:0:${ANYWHERE}`,
      'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:short',
      `${ANYWHERE} ${ON_BASE}`,
      `${ANYWHERE},${ON_BASE}`,
    ];
    for (const line of wrong) {
      const problem = problemOf(`${HEADER}${ANYWHERE}\n${line}\n`);
      assert.equal(problem, 'has neither a CAIP-10 account nor an EVM address in line 4', line);
    }
    assert.match(problemOf(`${HEADER}${'#'.repeat(1_001)}`), /more than 1000 characters in line 3/);
  });

  it('notices that it was cut short when it says how many accounts it has', () => {
    const counted = `# accounts: 2\n${HEADER}${ANYWHERE}\n${ON_BASE}\n`;
    assert.ok(listOf(counted));
    assert.match(problemOf(counted.replace(`${ON_BASE}\n`, '')), /says it has 2 accounts and has 1/);
  });

  it('reads a hundred thousand accounts', () => {
    const accounts = Array.from({ length: 100_000 }, (_, index) => `0x${index.toString(16).padStart(40, '0')}`);
    const list = listOf(HEADER + accounts.join('\n'));
    assert.deepEqual(list.decide([`eip155:1:${accounts[99_999]}`]).hits.length, 1);
  });
});

describe('no screening list', () => {
  it('screens nothing, and decisions say so', () => {
    assert.deepEqual(NO_SCREENING.decide([`eip155:1:${ANYWHERE}`]), { hits: [], list: null });
  });
});
