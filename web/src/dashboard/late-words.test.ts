import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ListedLateMoney } from './api-types.ts';
import { STRINGS } from './dashboard-words.ts';
import { lateMark, REASON_WORDS } from './late-words.ts';

const STYLE = { locale: 'en', dir: 'ltr' } as const;
const USDC = { assetSymbol: 'USDC', assetName: 'USD Coin', decimals: 6 };

function money(reason: ListedLateMoney['reason'], value: string): ListedLateMoney {
  const amount = { unit: 'caip19/eip155:8453/erc20:0x1', value, display: USDC };
  return { id: 'stry_1', reason, status: 'unclaimed', amount } as ListedLateMoney;
}

describe('the mark of late money in the list of payments', () => {
  it('is missing without late money', () => {
    const words = STRINGS.en;
    assert.ok(words);
    assert.deepEqual([lateMark(undefined, words, STYLE), lateMark([], words, STYLE)], [null, null]);
  });

  it('shows the amounts, and the reason and the status of each', () => {
    const words = STRINGS.en;
    assert.ok(words);
    const returned = { ...money('overpaid', '500000'), status: 'returned' } as const;
    const { text = '', title = '' } = lateMark([money('underpaid', '12000000'), returned], words, STYLE) ?? {};
    assert.deepEqual(
      [text, ...title.split('\n')].map((line) => line.replaceAll('\u00a0', ' ')),
      [
        '12.00 USDC, 0.50 USDC · Late money',
        '12.00 USDC: Less than was asked for, when the time was over. Not given back.',
        '0.50 USDC: More than was asked for. Returned.',
      ],
    );
  });

  for (const [locale, words] of Object.entries(STRINGS)) {
    it(`has another text for each reason in ${locale}`, () => {
      const reasons = Object.keys(REASON_WORDS) as (keyof typeof REASON_WORDS)[];
      const titles = reasons.map((reason) => lateMark([money(reason, '1000000')], words, STYLE)?.title);
      assert.equal(new Set(titles).size, 6);
      for (const [index, reason] of reasons.entries()) assert.ok(titles[index]?.includes(words[REASON_WORDS[reason]]));
    });
  }
});
