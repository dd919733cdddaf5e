import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { parseApiKey } from '../../src/domain/api-key.ts';
import { openOption } from '../../src/domain/option.ts';
import { receiptKeyOf } from '../../src/domain/receipt.ts';
import { createSecrets } from '../../src/runtime/secrets.ts';
import type { Reader } from '../../src/store/plumbing/statement.ts';
import { openPayingShop, type PayingShop, USDC } from '../e2e/paying-shop.ts';

const KEY_BYTES = 32;
/** Keys are short. A longer value is searched at its beginning. */
const SEARCHED_BYTES = 256;

/** Every text in every row of every table. */
async function readEverything(sql: Reader): Promise<readonly string[]> {
  const tables = await sql<{ name: string }[]>`
    select quote_ident(table_name) as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'`;
  assert.ok(tables.length > 20);
  const texts = new Set<string>();
  for (const { name } of tables) {
    const rows = await sql<{ row: unknown }[]>`select to_jsonb(t) as row from ${sql.unsafe(name)} t`;
    for (const { row } of rows) collect(row, texts);
  }
  return [...texts];
}

function collect(value: unknown, texts: Set<string>): void {
  if (typeof value === 'string') texts.add(value);
  else if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) collect(part, texts);
}

/** Everything in the texts that could be a key: any 32 bytes in a row, in any encoding. */
function possibleKeys(texts: readonly string[]): readonly Uint8Array[] {
  const keys = new Map<string, Uint8Array>();
  for (const text of texts) {
    const parts = [text, ...text.split('.')];
    const encodings = parts.flatMap((part) => [
      Buffer.from(part),
      Buffer.from(part.replace(/^(\\x|0x)/, ''), 'hex'),
      Buffer.from(part, 'base64'),
    ]);
    for (const bytes of encodings) {
      const searched = bytes.subarray(0, SEARCHED_BYTES);
      for (let at = 0; at + KEY_BYTES <= searched.length; at += 1) {
        const key = searched.subarray(at, at + KEY_BYTES);
        keys.set(key.toString('hex'), new Uint8Array(key));
      }
    }
  }
  return [...keys.values()];
}

describe('an attacker who reads every table', () => {
  let paying: PayingShop;
  let texts: readonly string[];
  let paymentId: string;
  let optionId: string;
  before(async () => {
    paying = await openPayingShop();
    const payer = paying.newPayer({ [USDC]: 10_000_000n });
    paymentId = await paying.created();
    optionId = (await paying.wallet.option(paymentId, payer.account, USDC)).id;
    texts = await readEverything(paying.gateway.db.sql);
  });
  after(() => paying.gateway.stop());

  /** A key opens options if it is the option key itself, or the master secret that the option key is derived from. */
  const openers = (keys: readonly Uint8Array[]) =>
    keys.filter((key) =>
      [key, createSecrets([key]).derive('option')].some((one) => openOption([one], paymentId, optionId) !== undefined),
    );

  it('finds no key that opens or makes an option', () => {
    assert.deepEqual(openers(possibleKeys(texts)), []);
  });

  it('would find such a key, whether stored as hex or wrapped in other text', () => {
    const key = Buffer.from(paying.gateway.optionKeys[0]);
    assert.equal(openers(possibleKeys([`\\x${key.toString('hex')}`])).length, 1);
    assert.equal(openers(possibleKeys([`option.${key.toString('base64url')}`])).length, 1);
  });

  it('finds no key that signs receipts', async () => {
    const response = await paying.gateway.call({ url: '/.well-known/till-receipts.json' });
    const published = response.json().keys.map(({ x }: { x: string }) => x);
    assert.deepEqual(published, [paying.gateway.receiptKey.publicJwk.x]);
    const signs = (key: Uint8Array) => published.includes(receiptKeyOf(key).publicJwk.x);
    assert.ok(texts.includes(String(published[0])), 'the public key is there');
    assert.equal(possibleKeys(texts).some(signs), false);
  });

  it('finds no API key, and none is accepted', async () => {
    assert.ok(parseApiKey(paying.shop.secret));
    assert.deepEqual(
      texts.filter((text) => text.includes(paying.shop.secret) || parseApiKey(text) !== undefined),
      [],
    );
    const [row] = await paying.gateway.db.sql<{ hash: string }[]>`select hash from api_keys limit 1`;
    const response = await paying.gateway.call({ url: '/v1/merchants', headers: { 'api-key': row?.hash ?? '' } });
    assert.deepEqual([response.statusCode, response.json().code], [401, 'invalid_api_key']);
  });
});
