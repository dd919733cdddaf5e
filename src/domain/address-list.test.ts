import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isAddressOrNetwork, isListedAddress } from './address-list.ts';

describe('a list of addresses', () => {
  it('takes addresses and networks of both families, and nothing else', () => {
    for (const text of [
      ...['203.0.113.7', '10.0.0.0/8', '0.0.0.0/0', '10.0.0.1/32'],
      ...['2001:db8::1', '2001:db8::/32', '::/0', '::1/128'],
    ]) {
      assert.ok(isAddressOrNetwork(text), text);
    }
    for (const text of [
      '',
      '10.0.0',
      '10.0.0.0/33',
      '10.0.0.0/',
      '10.0.0.0/8/8',
      '10.0.0.0/-8',
      '10.0.0.0/8.0',
      '10.0.0.0/0008',
      'localhost',
      '::1/129',
      'fe80::1%eth0',
    ]) {
      assert.ok(!isAddressOrNetwork(text), text);
    }
  });

  it('contains its addresses and those of its networks, in any notation', () => {
    const list = ['203.0.113.7', '10.1.0.0/16', '2001:db8:1::/48'];
    for (const address of ['203.0.113.7', '::ffff:203.0.113.7', '10.1.255.255', '::ffff:10.1.2.3', '2001:db8:1:2::3']) {
      assert.ok(isListedAddress(list, address), address);
    }
    for (const address of ['203.0.113.8', '10.2.0.1', '::ffff:10.2.0.1', '2001:db8:2::1', '', 'localhost', undefined]) {
      assert.ok(!isListedAddress(list, address), String(address));
    }
    assert.ok(isListedAddress(['fe80::/10'], 'fe80::1%eth0'), 'the zone of an address does not matter');
    assert.ok(!isListedAddress([], '203.0.113.7'), 'an empty list contains nothing');
  });
});
