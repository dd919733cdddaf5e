import type { Authorization, Item } from '../../domain/item.ts';
import { PERMIT2_ADDRESS } from './collector.ts';
import { depositAddressOf } from './item-terms.ts';
import { type Hex, toQuantity } from './rpc-values.ts';
import { address, bytes32, keccak, keccakText, uint } from './words.ts';

/** This file builds the data that payers sign: as typed data for wallets, and as a digest for checks. Tests compare both forms. */

interface Domain {
  readonly name: string;
  /** Undefined for Permit2, whose domain has no version. */
  readonly version?: string;
  readonly contract: string;
}

export const PERMIT2_DOMAIN: Domain = { name: 'Permit2', contract: PERMIT2_ADDRESS };

const AUTHORIZATION = 'ReceiveWithAuthorization';
/** The primary type of an authorization that the payer composed. Anybody may present it to the token. */
const TRANSFER = 'TransferWithAuthorization';
const AUTHORIZATION_FIELDS = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const;
const PERMIT = 'PermitTransferFrom';
const PERMIT_FIELDS = [
  { name: 'permitted', type: 'TokenPermissions' },
  { name: 'spender', type: 'address' },
  { name: 'nonce', type: 'uint256' },
  { name: 'deadline', type: 'uint256' },
] as const;
const PERMISSION = 'TokenPermissions';
const PERMISSION_FIELDS = [
  { name: 'token', type: 'address' },
  { name: 'amount', type: 'uint256' },
] as const;

/** The typed data of an EIP-3009 item, as the JSON text that wallets expect. */
export function authorizationText(item: Item, token: Hex, domain: Domain, chainId: number, commitment: string): string {
  return JSON.stringify({
    domain: domainFields(domain, chainId, token),
    types: { EIP712Domain: domainTypes(domain), [AUTHORIZATION]: AUTHORIZATION_FIELDS },
    primaryType: AUTHORIZATION,
    message: {
      from: item.payer.toLowerCase(),
      to: item.collector.toLowerCase(),
      value: toQuantity(item.amount),
      validAfter: '0x0',
      validBefore: toQuantity(item.deadlineS),
      nonce: commitment,
    },
  });
}

/** The typed data of a Permit2 item, as the JSON text that wallets expect. */
export function permitText(item: Item, token: Hex, chainId: number, commitment: string): string {
  return JSON.stringify({
    domain: domainFields(PERMIT2_DOMAIN, chainId, PERMIT2_DOMAIN.contract),
    types: {
      EIP712Domain: domainTypes(PERMIT2_DOMAIN),
      [PERMIT]: PERMIT_FIELDS,
      [PERMISSION]: PERMISSION_FIELDS,
    },
    primaryType: PERMIT,
    message: {
      permitted: { token, amount: toQuantity(item.amount) },
      spender: item.collector.toLowerCase(),
      nonce: toQuantity(BigInt(commitment)),
      deadline: toQuantity(item.deadlineS),
    },
  });
}

/** The 32 bytes that the payer's key signs for the item. */
export function digestOf(item: Item, token: Hex, separator: Buffer, commitment: string): Buffer {
  const struct =
    item.method === 'permit2'
      ? permitHash(item, token, commitment)
      : item.authorization === undefined
        ? authorizationHash(item, commitment)
        : transferHash(item, item.authorization);
  return keccak(`1901${separator.toString('hex')}${struct.toString('hex')}`);
}

export function separatorOf({ name, version, contract }: Domain, chainId: number): Buffer {
  const fields = domainTypes({ name, contract, ...(version === undefined ? {} : { version }) });
  return keccak(
    typeHash('EIP712Domain', fields) +
      keccakText(name).toString('hex') +
      (version === undefined ? '' : keccakText(version).toString('hex')) +
      uint(chainId) +
      address(contract),
  );
}

const AUTHORIZATION_HASH = typeHash(AUTHORIZATION, AUTHORIZATION_FIELDS);
const TRANSFER_HASH = typeHash(TRANSFER, AUTHORIZATION_FIELDS);
const PERMISSION_HASH = typeHash(PERMISSION, PERMISSION_FIELDS);
const PERMIT_HASH = keccakText(typeText(PERMIT, PERMIT_FIELDS) + typeText(PERMISSION, PERMISSION_FIELDS)).toString(
  'hex',
);

export function authorizationHash(
  item: Pick<Item, 'payer' | 'collector' | 'amount' | 'deadlineS'>,
  commitment: string,
): Buffer {
  return keccak(
    AUTHORIZATION_HASH +
      address(item.payer) +
      address(item.collector) +
      uint(item.amount) +
      uint(0) +
      uint(item.deadlineS) +
      bytes32(commitment),
  );
}

function transferHash(item: Item, { nonce, validAfterS }: Authorization): Buffer {
  return keccak(
    TRANSFER_HASH +
      address(item.payer) +
      address(depositAddressOf(item)) +
      uint(item.amount) +
      uint(validAfterS) +
      uint(item.deadlineS) +
      bytes32(nonce),
  );
}

function permitHash(item: Item, token: Hex, commitment: string): Buffer {
  const permission = keccak(PERMISSION_HASH + address(token) + uint(item.amount)).toString('hex');
  return keccak(PERMIT_HASH + permission + address(item.collector) + bytes32(commitment) + uint(item.deadlineS));
}

interface Field {
  readonly name: string;
  readonly type: string;
}

function domainTypes({ version }: Domain): readonly Field[] {
  return [
    { name: 'name', type: 'string' },
    ...(version === undefined ? [] : [{ name: 'version', type: 'string' }]),
    { name: 'chainId', type: 'uint256' },
    { name: 'verifyingContract', type: 'address' },
  ];
}

function domainFields({ name, version }: Domain, chainId: number, contract: string): Record<string, string> {
  return {
    name,
    ...(version === undefined ? {} : { version }),
    chainId: toQuantity(chainId),
    verifyingContract: contract.toLowerCase(),
  };
}

function typeText(name: string, fields: readonly Field[]): string {
  return `${name}(${fields.map((field) => `${field.type} ${field.name}`).join(',')})`;
}

function typeHash(name: string, fields: readonly Field[]): string {
  return keccakText(typeText(name, fields)).toString('hex');
}
