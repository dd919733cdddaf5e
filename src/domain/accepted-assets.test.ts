import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type AcceptedAssets, acceptedByAll, accepts, acceptsOn, canonicalList, listsText } from './accepted-assets.ts';

const NETWORKS = ['eip155:1', 'eip155:10', 'eip155:100'];
const ASSETS = NETWORKS.flatMap((network) => ['a', 'b', 'c'].map((token) => `${network}/erc20:0x${token}`));
const [ONE = '', TEN = ''] = NETWORKS;
const [A1 = '', B1 = '', , A10 = ''] = ASSETS;

const someIds = fc.array(fc.constantFrom(...NETWORKS, ...ASSETS), { minLength: 1, maxLength: 8 });
const someList: fc.Arbitrary<AcceptedAssets> = fc.option(someIds);
const acceptedIn = (list: AcceptedAssets) => ASSETS.filter((asset) => accepts(list, asset));

describe('accepted assets', () => {
  it('are those named, and all of a named network', () => {
    for (const asset of ASSETS) assert.ok(accepts(null, asset));
    assert.deepEqual(acceptedIn([A1, TEN]), [A1, ...ASSETS.filter((asset) => asset.startsWith(`${TEN}/`))]);
    assert.deepEqual(acceptedIn([]), []);
  });

  it('of a network whose id begins with that of another network are not meant', () => {
    assert.ok(!accepts([ONE], A10));
    assert.ok(!acceptsOn([A10], ONE));
    assert.ok(acceptsOn([A1, A10], TEN) && acceptsOn([A10], TEN) && acceptsOn([TEN], TEN) && acceptsOn(null, TEN));
  });

  it('of several lists are exactly those that each list accepts', () => {
    fc.assert(
      fc.property(fc.array(someList, { maxLength: 4 }), (lists) => {
        const common = acceptedByAll(lists);
        const expected = ASSETS.filter((asset) => lists.every((list) => accepts(list, asset)));
        assert.deepEqual(acceptedIn(common), expected);
        assert.equal(common?.length === 0, expected.length === 0, 'an empty list says that nothing is left');
        assert.deepEqual(acceptedByAll([...lists].reverse()), common, 'the order of the lists does not matter');
      }),
    );
    assert.deepEqual(acceptedByAll([[ONE], [A1, A10], null]), [A1]);
    assert.equal(acceptedByAll([null, null]), null);
    assert.deepEqual(acceptedByAll([[A1], [B1]]), []);
  });

  it('have one spelling: lists in another order, with repetitions or with assets of a named network are equal', () => {
    fc.assert(
      fc.property(someIds, (ids) => {
        const list = canonicalList(ids);
        assert.deepEqual(acceptedIn(list), acceptedIn(ids));
        assert.deepEqual(canonicalList([...ids, ...list].reverse()), list);
      }),
    );
    assert.deepEqual(canonicalList([B1, ONE, A10, A10]), [ONE, A10]);
  });

  it('are named by their lists in a message, the first ones of each', () => {
    assert.equal(
      listsText({ partner: null, merchant: [A1], payment: [B1, TEN] }),
      `the merchant accepts ${A1}; the payment accepts ${B1}, ${TEN}`,
    );
    const five = ASSETS.slice(0, 5).join(', ');
    assert.equal(listsText({ merchant: ASSETS.slice(0, 5) }), `the merchant accepts ${five}`);
    assert.equal(listsText({ merchant: ASSETS.slice(0, 6) }), `the merchant accepts ${five} and 1 more`);
  });
});
