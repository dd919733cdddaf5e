import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isPublicAddress } from './public-address.ts';

describe('isPublicAddress', () => {
  it('says yes to addresses of the internet', () => {
    for (const address of ['1.1.1.1', '93.184.215.14', '172.32.0.1', '2606:4700:4700::1111', '2a00:1450::8a']) {
      assert.ok(isPublicAddress(address), address);
    }
  });

  it('refuses loopback, private networks and reserved ranges', () => {
    const others = [
      '127.0.0.1',
      '127.255.255.254',
      '0.0.0.0',
      '10.1.2.3',
      '100.64.0.1',
      '169.254.169.254',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '198.18.0.1',
      '224.0.0.1',
      '255.255.255.255',
      '::',
      '::1',
      '::ffff:127.0.0.1',
      '::ffff:8.8.8.8',
      '64:ff9b::7f00:1',
      'fc00::1',
      'fd12:3456::1',
      'fe80::1',
      'ff02::1',
      '2001:db8::1',
      '2002:7f00:1::',
      '2001::1',
    ];
    for (const address of others) assert.ok(!isPublicAddress(address), address);
  });

  it('refuses each special range from its first address to its last, and not the neighbours', () => {
    const ranges = [
      ['0.0.0.0', '0.255.255.255', undefined, '1.0.0.0'],
      ['10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
      ['100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
      ['127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
      ['169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
      ['172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
      ['192.0.0.0', '192.0.0.255', '191.255.255.255', '192.0.1.0'],
      ['192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
      ['192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
      ['192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
      ['198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
      ['198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
      ['203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
      ['224.0.0.0', '255.255.255.255', '223.255.255.255', undefined],
      ['2001::', '2001:1ff:ffff::', '2000:ffff::', '2001:200::'],
      ['2001:db8::', '2001:db8:ffff::', '2001:db7:ffff::', '2001:db9::'],
      ['2002::', '2002:ffff::', '2001:ffff::', '2003::'],
      ['3fff::', '3fff:fff:ffff::', '3ffe:ffff::', '3fff:1000::'],
      ['4000::', 'ffff::', undefined, undefined],
    ] as const;
    for (const [first, last, before, after] of ranges) {
      for (const address of [first, last]) assert.ok(!isPublicAddress(address), address);
      for (const address of [before, after]) assert.ok(address === undefined || isPublicAddress(address), address);
    }
  });

  it('refuses text that is no address', () => {
    for (const text of ['', 'localhost', '1.1.1', '0x7f.1', '127.1', '[::1]', 'fe80::1%eth0']) {
      assert.ok(!isPublicAddress(text), text);
    }
  });
});
