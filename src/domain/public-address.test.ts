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

  it('refuses text that is no address', () => {
    for (const text of ['', 'localhost', '1.1.1', '0x7f.1', '127.1', '[::1]', 'fe80::1%eth0']) {
      assert.ok(!isPublicAddress(text), text);
    }
  });
});
