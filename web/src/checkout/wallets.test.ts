import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { askWallet, WalletError } from './wallet-request.ts';
import { discoverWallets, type Provider, type Wallet } from './wallets.ts';

const provider: Provider = { request: async () => null };
const ICON = 'data:image/svg+xml,<svg/>';

/** A window with wallets in it, and what was found so far. */
function browserWith(announcements: readonly unknown[], ethereum?: unknown) {
  const target = Object.assign(new EventTarget(), { ethereum });
  target.addEventListener('eip6963:requestProvider', () => {
    for (const detail of announcements) {
      target.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
    }
  });
  let found: readonly Wallet[] = [];
  const { signal } = new AbortController();
  discoverWallets({
    target,
    browserWalletName: 'Browser wallet',
    onFound: (wallets) => {
      found = wallets;
    },
    signal,
  });
  return { target, found: () => found };
}

const announce = (uuid: string, name: string, more: object = {}) => ({
  info: { uuid, name, icon: ICON, rdns: `org.${uuid}`, ...more },
  provider,
});

describe('wallets', () => {
  it('are found side by side, each once', () => {
    const { found } = browserWith([announce('a', 'A'), announce('b', 'B'), announce('a', 'A')]);
    assert.deepEqual(
      found().map(({ name }) => name),
      ['A', 'B'],
    );
  });

  it('may come late', () => {
    const { target, found } = browserWith([]);
    target.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: announce('c', 'C') }));
    assert.deepEqual(
      found().map(({ name }) => name),
      ['C'],
    );
  });

  it('are left out when they are nonsense, and lose icons that are not pictures', () => {
    const { found } = browserWith([
      null,
      { info: { uuid: 'x', name: 'X' } },
      { info: { uuid: 1, name: 'X' }, provider },
      announce('y', '  '),
      announce('z', 'Z', { icon: 'https://elsewhere.example/track.png' }),
    ]);
    assert.deepEqual(
      found().map(({ name, icon }) => [name, icon]),
      [['Z', null]],
    );
  });

  it('of the old kind are used where nothing announces itself', () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const old = browserWith([], provider);
      const both = browserWith([announce('a', 'A')], provider);
      mock.timers.tick(1_000);
      assert.deepEqual(
        old.found().map(({ name }) => name),
        ['Browser wallet'],
      );
      assert.deepEqual(
        both.found().map(({ name }) => name),
        ['A'],
      );
    } finally {
      mock.timers.reset();
    }
  });

  it('fail in few ways, whatever they do', async () => {
    const failure = async (request: () => unknown) => {
      try {
        await askWallet({ request: request as Provider['request'] }, 'eth_accounts', [], 20);
        return 'answered';
      } catch (error) {
        return error instanceof WalletError ? error.why : 'threw';
      }
    };
    assert.equal(await failure(() => Promise.reject({ code: 4001 })), 'rejected');
    assert.equal(await failure(() => Promise.reject({ code: -32002 })), 'pending');
    assert.equal(
      await failure(() => Promise.reject({ code: -32603, data: { originalError: { code: 4902 } } })),
      'unknown_chain',
    );
    assert.equal(await failure(() => Promise.reject(undefined)), 'error');
    assert.equal(
      await failure(() => {
        throw new Error('at once');
      }),
      'error',
    );
    assert.equal(await failure(() => new Promise(() => {})), 'silent');
  });
});
