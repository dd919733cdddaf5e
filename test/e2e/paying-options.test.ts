import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { NO_RATES } from '../../src/rates/rates.ts';
import { startTestGateway } from '../gateway.ts';
import { until } from '../until.ts';
import {
  BASE,
  BASE_SEPOLIA,
  BASE_SEPOLIA_USDC,
  BASE_USDC,
  DESTINATION,
  ETH,
  EURC,
  openPayingShop,
  type PayingShop,
  readBuild,
  refusal,
  result,
  SANDBOX,
  USDC,
  USDT,
  walletOn,
} from './paying-shop.ts';
import { happen, openShop, payer as walletOf } from './shop.ts';

const TEN_DOLLARS = 10_000_000n;
const RICH = { [USDC]: TEN_DOLLARS, [EURC]: TEN_DOLLARS, [USDT]: TEN_DOLLARS, [ETH]: 10n ** 18n };

describe('options', () => {
  let paying: PayingShop;
  before(async () => {
    paying = await openPayingShop({ chainIds: [SANDBOX, BASE_SEPOLIA, BASE] });
  });
  after(() => paying.gateway.stop());

  const nowS = () => paying.time.clock.nowMs() / 1000;
  const unitsOf = (options: readonly { amount: { unit: string } }[]) =>
    options.map(({ amount }) => amount.unit.slice(7));

  describe('list', () => {
    it('every asset the account holds enough of: no rate first, then no transaction of its own', async () => {
      const payer = paying.newPayer(RICH);
      const options = await paying.wallet.listed(await paying.created(), [payer.account]);
      assert.deepEqual(unitsOf(options), [USDC, USDT, EURC, ETH]);
      for (const { account, etaS, collectData } of options) {
        assert.deepEqual({ account, etaS, collectData }, { account: payer.account, etaS: 1, collectData: null });
      }
    });

    it('the amount in the token, with the data to format it', async () => {
      const payer = paying.newPayer(RICH);
      const options = await paying.wallet.listed(await paying.created(), [payer.account]);
      assert.deepEqual(options[0]?.amount, {
        unit: `caip19/${USDC}`,
        value: '10000000',
        display: {
          assetSymbol: 'USDC',
          assetName: 'USD Coin',
          decimals: 6,
          networkName: 'Till Sandbox',
          iconUrl: 'http://localhost:8080/icons/token/USDC.svg',
          networkIconUrl: 'http://localhost:8080/icons/network/eip155-31337.svg',
        },
      });
      // A euro is 1.10 dollars and an ether 2,500 in the sandbox. 9.090910 euros are rounded up to a cent.
      assert.deepEqual(
        options.map(({ amount }) => amount.value),
        ['10000000', '10000000', '9100000', '4000000000000000'],
      );
    });

    it('the exchange rate of each amount with its sources, and null at par', async () => {
      const payer = paying.newPayer(RICH);
      const options = await paying.wallet.listed(await paying.created(), [payer.account]);
      const known = { quote: 'USD', sources: ['sandbox table'], at: Math.floor(nowS()) };
      assert.deepEqual(
        options.map(({ rate }) => rate),
        [null, null, { base: 'EUR', value: '1.1', ...known }, { base: 'ETH', value: '2500', ...known }],
      );
    });

    it('an end: ten minutes at par; with a rate 60 s for a signature and 300 s for a transaction', async () => {
      const payer = paying.newPayer(RICH);
      const id = await paying.created({ expiresAt: nowS() + 900 });
      const options = await paying.wallet.listed(id, [payer.account]);
      assert.deepEqual(
        options.map(({ expiresAt }) => expiresAt),
        [nowS() + 600, nowS() + 600, nowS() + 60, nowS() + 300],
      );
    });

    it('nothing with a rate when less than 60 s are left', async () => {
      const payer = paying.newPayer(RICH);
      const id = await paying.created({ expiresAt: nowS() + 59 });
      assert.deepEqual(unitsOf(await paying.wallet.listed(id, [payer.account])), [USDC, USDT]);
    });

    it('the actions of the wallet, in the form that wallets in use read', async () => {
      const payer = paying.newPayer(RICH);
      const [usdc, usdt, , eth] = await paying.wallet.listed(await paying.created(), [payer.account]);
      assert.ok(usdc && usdt && eth);
      const request = readBuild(usdc);
      assert.deepEqual(Object.keys(request), ['chain_id', 'method', 'params']);
      assert.equal(request.chain_id, SANDBOX);
      assert.equal(request.method, 'eth_signTypedData_v4');
      assert.equal(request.params[0], payer.address.toLowerCase());
      assert.equal(JSON.parse(request.params[1] as string).message.value, '0x989680');
      assert.deepEqual(
        usdt.actions.map(({ type, data }) => [type, data.chain_id, data.method]),
        [
          ['walletRpc', SANDBOX, 'eth_sendTransaction'],
          ['walletRpc', SANDBOX, 'eth_signTypedData_v4'],
        ],
        'the approval comes first',
      );
      const marker = Buffer.from(JSON.stringify({ chain_id: ETH.split('/')[0], isFetched: true })).toString('hex');
      assert.deepEqual(eth.actions, [{ type: 'build', data: { data: marker } }]);
    });

    it('one action where Permit2 may take the token already, two where it must be approved first', async () => {
      const payer = paying.newPayer(RICH);
      const { control } = paying.network();
      const actionsFor = async (allowance: bigint) => {
        control.setAllowance(payer.address, USDT, allowance);
        return (await paying.wallet.option(await paying.created(), payer.account, USDT)).actions.length;
      };
      assert.equal(await actionsFor(TEN_DOLLARS), 1);
      assert.equal(await actionsFor(0n), 2);
    });

    it('no token whose allowance must be reset before it is approved: wallets cannot do three actions', async () => {
      const payer = paying.newPayer(RICH);
      paying.network().control.setAllowance(payer.address, USDT, TEN_DOLLARS - 1n);
      assert.deepEqual(unitsOf(await paying.wallet.listed(await paying.created(), [payer.account])), [USDC, EURC, ETH]);
    });

    it('nothing the account holds too little of, and coin only with some left for gas', async () => {
      const payer = paying.newPayer({ [USDC]: TEN_DOLLARS - 1n, [EURC]: 9_100_000n, [ETH]: 4_000_000_000_000_000n });
      assert.deepEqual(unitsOf(await paying.wallet.listed(await paying.created(), [payer.account])), [EURC]);
    });

    it('an empty list for an account without funds, with the info of a payment that can be paid', async () => {
      const payer = paying.newPayer();
      const response = await paying.wallet.options(await paying.created(), [payer.account], '?includePaymentInfo=true');
      const { options, info, collectData } = response.json();
      assert.deepEqual({ options, collectData }, { options: [], collectData: null });
      assert.equal(info.status, 'requires_action');
      const alone = await walletOf(paying.gateway, paying.shop.headers).info(await paying.created());
      // Late money is left out of the options: wallets ask for no more than they need.
      assert.deepEqual({ ...info, transaction: null, attempt: null, lateMoney: [] }, alone.json());
    });

    it('no info unless it is asked for', async () => {
      const payer = paying.newPayer();
      for (const query of ['', ...['false', 'null', ''].map((value) => `?includePaymentInfo=${value}`)]) {
        assert.equal((await paying.wallet.options(await paying.created(), [payer.account], query)).json().info, null);
      }
    });

    it('each account in its own spelling, and once', async () => {
      const [one, two] = [paying.newPayer({ [USDC]: TEN_DOLLARS }), paying.newPayer({ [USDC]: TEN_DOLLARS })];
      const lower = `${SANDBOX}:${one.address.toLowerCase()}`;
      const options = await paying.wallet.listed(await paying.created(), [lower, one.account, two.account, lower]);
      assert.deepEqual(
        options.map(({ account }) => account),
        [lower, two.account],
      );
    });

    it('quicker networks first', async () => {
      const payer = paying.newPayer({ [USDC]: TEN_DOLLARS });
      paying.network(BASE_SEPOLIA).control.setBalance(payer.address, BASE_SEPOLIA_USDC, TEN_DOLLARS);
      const accounts = [`${BASE_SEPOLIA}:${payer.address}`, payer.account];
      const options = await paying.wallet.listed(await paying.created(), accounts);
      assert.deepEqual(unitsOf(options), [USDC, BASE_SEPOLIA_USDC]);
      assert.deepEqual(
        options.map(({ etaS }) => etaS),
        [1, 10],
      );
    });

    it('new ids with every call, while the old ones stay valid', async () => {
      const payer = paying.newPayer({ [USDC]: TEN_DOLLARS });
      const id = await paying.created();
      const old = await paying.wallet.option(id, payer.account, USDC);
      const young = await paying.wallet.option(id, payer.account, USDC);
      assert.notEqual(old.id, young.id);
      assert.equal((await paying.wallet.fetch(id, old.id)).statusCode, 200);
      assert.equal((await paying.wallet.fetch(id, young.id)).statusCode, 200);
    });

    it('options that every node honours, however it was restarted', async () => {
      const payer = paying.newPayer({ [USDC]: TEN_DOLLARS });
      const id = await paying.created();
      const option = await paying.wallet.option(id, payer.account, USDC);
      const other = await startTestGateway({ ...paying.wiring, databaseUrl: paying.gateway.databaseUrl });
      try {
        const wallet = walletOn(other, { 'api-key': paying.shop.secret });
        const response = await wallet.confirm(id, option.id, [result(await payer.sign(option))]);
        assert.equal(response.json().status, 'processing', response.body);
      } finally {
        await other.stop();
      }
    });

    it('nothing into the database', async () => {
      const payer = paying.newPayer(RICH);
      const id = await paying.created();
      await paying.wallet.listed(id, [payer.account]);
      assert.equal((await paying.items(id)).length, 0);
    });

    it('the same whatever `refresh` says', async () => {
      const payer = paying.newPayer(RICH);
      for (const refresh of [null, [], ['anything']]) {
        const body = { accounts: [payer.account], refresh };
        const response = await paying.wallet.post(await paying.created(), 'options', body);
        assert.equal(response.json().options.length, 4, response.body);
      }
    });
  });

  describe('are only', () => {
    it('the very asset of a payment priced in one', async () => {
      const payer = paying.newPayer(RICH);
      for (const [asset, value] of [
        [USDC, '5'],
        [EURC, '7'],
        [ETH, '1000'],
      ] as const) {
        const id = await paying.created({ amount: { unit: `caip19/${asset}`, value } });
        const options = await paying.wallet.listed(id, [payer.account]);
        assert.deepEqual(
          options.map(({ amount, expiresAt }) => [amount.unit, amount.value, expiresAt]),
          [[`caip19/${asset}`, value, nowS() + 300]],
        );
      }
    });

    it('on test networks for test payments, and on live ones for live payments', async () => {
      const payer = paying.newPayer({ [USDC]: TEN_DOLLARS });
      paying.network(BASE).control.setBalance(payer.address, BASE_USDC, TEN_DOLLARS);
      const accounts = [payer.account, `${BASE}:${payer.address}`];
      assert.deepEqual(unitsOf(await paying.wallet.listed(await paying.created(), accounts)), [USDC]);
      const live = await openShop(paying.gateway, { mode: 'live' });
      const wallet = walletOn(paying.gateway, { 'api-key': live.secret });
      assert.deepEqual(unitsOf(await wallet.listed(await paying.created({}, live), accounts)), [BASE_USDC]);
    });

    it('assets that the merchant can receive', async () => {
      const payer = paying.newPayer(RICH);
      const shop = await openShop(paying.gateway);
      const { control } = paying.network();
      await paying.gateway.call({
        method: 'POST',
        url: `/v1/merchants/${shop.merchant.id}/settlements/crypto`,
        headers: { ...shop.headers, 'idempotency-key': 'destination' },
        payload: { settlements: [{ asset: USDC, destination: `${SANDBOX}:${DESTINATION}` }] },
      });
      control.setBlacklisted(DESTINATION, USDC);
      const wallet = walletOn(paying.gateway, { 'api-key': shop.secret });
      assert.deepEqual(unitsOf(await wallet.listed(await paying.created({}, shop), [payer.account])), [
        USDT,
        EURC,
        ETH,
      ]);
      control.setBlacklisted(DESTINATION, USDC, false);
    });

    it('assets whose token does not block the account', async () => {
      const payer = paying.newPayer({ [USDC]: TEN_DOLLARS, [EURC]: TEN_DOLLARS });
      paying.network().control.setBlacklisted(payer.address, USDC);
      assert.deepEqual(unitsOf(await paying.wallet.listed(await paying.created(), [payer.account])), [EURC]);
    });

    it('assets with a rate or without need of one', async () => {
      const { gateway, ...unrated } = await openPayingShop({ rates: NO_RATES });
      try {
        const payer = unrated.newPayer(RICH);
        assert.deepEqual(unitsOf(await unrated.wallet.listed(await unrated.created(), [payer.account])), [USDC, USDT]);
      } finally {
        await gateway.stop();
      }
    });

    it('of assets that are on the chain as we know them, and of networks with a relayer', async () => {
      const payer = paying.newPayer(RICH);
      const { settings } = paying.network();
      settings.withheld.add(USDC);
      assert.deepEqual(unitsOf(await paying.wallet.listed(await paying.created(), [payer.account])), [USDT, EURC, ETH]);
      settings.withheld.clear();
      settings.hasRelayer = false;
      assert.deepEqual(await paying.wallet.listed(await paying.created(), [payer.account]), []);
      settings.hasRelayer = true;
    });
  });

  describe('leave out a network', () => {
    const twice = () => {
      const payer = paying.newPayer({ [USDC]: TEN_DOLLARS });
      paying.network(BASE_SEPOLIA).control.setBalance(payer.address, BASE_SEPOLIA_USDC, TEN_DOLLARS);
      return [payer.account, `${BASE_SEPOLIA}:${payer.address}`];
    };

    it('that is down', async () => {
      const accounts = twice();
      const { control } = paying.network();
      control.goDown();
      assert.deepEqual(unitsOf(await paying.wallet.listed(await paying.created(), accounts)), [BASE_SEPOLIA_USDC]);
      control.comeBack();
      assert.equal((await paying.wallet.listed(await paying.created(), accounts)).length, 2);
    });

    it('that does not answer in time', async () => {
      const patient = await openPayingShop({ chainIds: [SANDBOX, BASE_SEPOLIA] });
      // Time is the test's here, so that being slow takes none.
      const slow = await startTestGateway({
        ...patient.wiring,
        world: patient.time,
        databaseUrl: patient.gateway.databaseUrl,
      });
      try {
        const payer = patient.newPayer({ [USDC]: TEN_DOLLARS });
        patient.network(BASE_SEPOLIA).control.setBalance(payer.address, BASE_SEPOLIA_USDC, TEN_DOLLARS);
        const id = await patient.created();
        let isAsked = false;
        patient.network().control.intercept(() => {
          isAsked = true;
          return new Promise(() => {});
        });
        const wallet = walletOn(slow, { 'api-key': patient.shop.secret });
        const listing = wallet.listed(id, [payer.account, `${BASE_SEPOLIA}:${payer.address}`]);
        await until('the slow network is asked', () => isAsked);
        await patient.time.advance(3_000);
        assert.deepEqual(unitsOf(await listing), [BASE_SEPOLIA_USDC]);
      } finally {
        await slow.stop();
        await patient.gateway.stop();
      }
    });

    it('but say so when none could be asked: not knowing is not having nothing', async () => {
      const payer = paying.newPayer({ [USDC]: TEN_DOLLARS });
      const { control } = paying.network();
      control.goDown();
      const response = await paying.wallet.options(await paying.created(), [payer.account]);
      assert.deepEqual([response.statusCode, response.json().code], [503, 'internal_error']);
      assert.equal(response.headers['retry-after'], '1');
      control.comeBack();
    });
  });

  describe('refuse', () => {
    it('a request without accounts', async () => {
      const response = await paying.wallet.options(await paying.created(), []);
      assert.deepEqual([response.statusCode, response.json().code], [400, 'params_validation']);
      assert.deepEqual(
        response.json().issues.map(({ field }: { field: string }) => field),
        ['accounts'],
      );
    });

    it('bodies without a list of texts', async () => {
      const id = await paying.created();
      for (const body of [{}, { accounts: null }, { accounts: 'eip155:1:0x' }, { accounts: [1] }, []]) {
        assert.deepEqual(await refusal(paying.wallet.post(id, 'options', body)), [400, 'params_validation']);
      }
      assert.deepEqual(await refusal(paying.wallet.post(id, 'options', '{')), [400, 'invalid_params']);
    });

    it('malformed accounts of served networks with 422, and name every one', async () => {
      const { account, address } = paying.newPayer();
      const accounts = [
        account,
        '',
        address,
        `eip155:${address}`,
        `${SANDBOX}:0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed`,
        `${SANDBOX}:0x1234`,
        `${SANDBOX}:`,
        `${account}${'0'.repeat(300)}`,
      ];
      const response = await paying.wallet.options(await paying.created(), accounts);
      assert.deepEqual([response.statusCode, response.json().code], [422, 'params_validation']);
      assert.deepEqual(
        response.json().issues.map(({ field }: { field: string }) => field),
        [1, 2, 3, 4, 5, 6, 7].map((index) => `accounts[${index}]`),
      );
    });

    it('accounts on the screening list', async () => {
      const [good, bad] = [paying.newPayer({ [USDC]: TEN_DOLLARS }), paying.newPayer({ [USDC]: TEN_DOLLARS })];
      paying.screened.add(bad.account);
      const id = await paying.created();
      for (const accounts of [[bad.account], [good.account, bad.account.toLowerCase().replace('0X', '0x')]]) {
        assert.deepEqual(await refusal(paying.wallet.options(id, accounts)), [400, 'sanctioned_user']);
      }
      assert.equal((await paying.wallet.listed(id, [good.account])).length, 1);
    });

    it('payments that are not there', async () => {
      const { account } = paying.newPayer();
      const strange = 'pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6';
      assert.deepEqual(await refusal(paying.wallet.options(strange, [account])), [404, 'payment_not_found']);
      const live = walletOn(paying.gateway, {
        'api-key': (await openShop(paying.gateway, { mode: 'live' })).secret,
      });
      assert.deepEqual(await refusal(live.options(await paying.created(), [account])), [404, 'payment_not_found']);
    });
  });

  describe('ignore', () => {
    const USEABLE = { [USDC]: TEN_DOLLARS };
    const listedBeside = async (others: readonly string[]) => {
      const { account } = paying.newPayer(USEABLE);
      return unitsOf(await paying.wallet.listed(await paying.created(), [...others, account]));
    };

    it('accounts of networks that are not served, whatever form and checksum their addresses have', async () => {
      const { address } = paying.newPayer();
      const others = [
        `eip155:999:${address}`,
        `eip155:1:${address}`,
        // An address of Rootstock, whose checksum also covers the chain id (EIP-1191).
        'eip155:30:0x5aaEB6053f3e94c9b9a09f33669435E7ef1bEAeD',
        `eip155:one:${address}`,
        'eip155:1:0x1234',
        'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T',
        `solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:${address}`,
        'bip122:000000000019d6689c085ae165831e93:128Lkh3S7CkDTBZ8W7BbpsN3YYizJMp8p6',
        'cosmos:cosmoshub-3:cosmos1t2uflqwqe0fsj0shcfkrvpukewcw40yjj6hdc0',
        'ton:-239:0:83dfd552e63729b472fcbcc8c45ebcc6691702558b68ec7527e1ba403a0f31a8',
      ];
      assert.deepEqual(await listedBeside(others), [USDC]);
      assert.deepEqual(await paying.wallet.listed(await paying.created(), others), []);
    });

    it('accounts of networks of the other mode, and of networks without a relayer', async () => {
      const wrong = '0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
      assert.deepEqual(await listedBeside([`${BASE}:${wrong}`]), [USDC]);
      const { settings } = paying.network(BASE_SEPOLIA);
      settings.hasRelayer = false;
      assert.deepEqual(await listedBeside([`${BASE_SEPOLIA}:${wrong}`]), [USDC]);
      settings.hasRelayer = true;
    });

    it('the zero address, which wallets send for an account they do not have', async () => {
      const zero = `${SANDBOX}:0x${'0'.repeat(40)}`;
      assert.deepEqual(await listedBeside([zero]), [USDC]);
      assert.deepEqual(await paying.wallet.listed(await paying.created(), [zero]), []);
    });

    it('accounts after the first 100 that are served', async () => {
      const unserved = Array.from({ length: 150 }, (_, index) => `eip155:${1_000_000 + index}:0x12`);
      const poor = Array.from({ length: 99 }, () => paying.newPayer().account);
      const [hundredth, next] = [paying.newPayer(USEABLE), paying.newPayer(USEABLE)];
      const all = [...unserved, ...poor, ...poor, hundredth.account, next.account, `${SANDBOX}:0x12`];
      const options = await paying.wallet.listed(await paying.created(), all);
      assert.deepEqual(
        options.map(({ account }) => account),
        [hundredth.account],
      );
    });
  });

  describe('of a payment that cannot be paid any more', () => {
    const ends = {
      processing: (id: string) => happen(paying.gateway, id, 'confirmed'),
      succeeded: (id: string) => happen(paying.gateway, id, 'confirmed', 'succeeded'),
      failed: (id: string) => happen(paying.gateway, id, 'confirmed', 'failed'),
      cancelled: (id: string) => paying.shop.cancel(id).then(() => {}),
    };
    for (const [status, end] of Object.entries(ends)) {
      it(`are none when it is ${status}`, async () => {
        const payer = paying.newPayer(RICH);
        const id = await paying.created();
        await end(id);
        const asked = (await paying.wallet.options(id, [payer.account], '?includePaymentInfo=true')).json();
        assert.deepEqual([asked.options, asked.info.status, asked.collectData], [[], status, null]);
        const unasked = (await paying.wallet.options(id, [payer.account])).json();
        assert.deepEqual(unasked, { options: [], info: null, collectData: null });
      });
    }

    it('are none when it has expired, and 410 when the info that says so was not asked for', async () => {
      const payer = paying.newPayer(RICH);
      const id = await paying.created({ expiresAt: nowS() + 10 });
      await paying.time.advance(10_000);
      const asked = (await paying.wallet.options(id, [payer.account], '?includePaymentInfo=true')).json();
      assert.deepEqual([asked.options, asked.info.status], [[], 'expired']);
      assert.deepEqual(await refusal(paying.wallet.options(id, [payer.account])), [410, 'payment_expired']);
    });
  });
});
