// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are lines of source code
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/**
 * Faults that no run shows: they are about settings, commands, the adapter of a chain, or hundreds of rows. Each is a changed line
 * in a copy of the source, which the named test must notice.
 */
interface NamedMutant {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly test: string;
  /** The beginning of the title of a test in that file, which fails. */
  readonly title: string;
}

export const NAMED_MUTANTS: readonly NamedMutant[] = [
  {
    name: 'departures from our accounts are not read',
    file: 'src/chains/memory/witness.ts',
    from: 'accounts.has(to) || (hasDepartures && accounts.has(from))',
    to: 'accounts.has(to) || (hasDepartures && accounts.has(`${from} not`))',
    test: 'test/e2e/account-movements.test.ts',
    title: 'that leave without an order take the float of the operator',
  },
  {
    name: 'what is missing after a departure stays missing for ever',
    file: 'src/actions/outgoing/float/add-float.ts',
    from: 'const filled = owner === OPERATOR_FLOAT ?',
    to: 'const filled = owner === `${OPERATOR_FLOAT} not` ?',
    test: 'test/e2e/account-movements.test.ts',
    title: 'that leave beyond that float are missing',
  },
  {
    name: 'two nodes book a departure twice',
    file: 'src/actions/outgoing/return/record-unexpected-transfers.ts',
    from: 'if (!(await moveAccountCursor(tx, network, begun, to))) return false;',
    to: 'await moveAccountCursor(tx, network, begun, to);',
    test: 'test/e2e/account-movements.test.ts',
    title: 'are not stored from blocks that were read before a reorganisation',
  },
  {
    name: 'each transfer of dust to our account has an alert',
    file: 'src/actions/outgoing/return/stray-alert.ts',
    from: 'return `${account} ${asset}`;',
    to: 'return `${account} ${asset} ${Math.random()}`;',
    test: 'test/e2e/account-movements.test.ts',
    title: 'of a stranger who sends dust have one alert',
  },
  {
    name: 'movements of our accounts outlive their reorganisation',
    file: 'src/actions/watch/roll-back.ts',
    from: '    await undoAccountMovements(tx, { network, above: fork.number }, at);\n',
    to: '    void undoAccountMovements;\n',
    test: 'test/e2e/account-movements.test.ts',
    title: 'go with a deep reorganisation',
  },
  {
    name: 'a transfer that the database has forgotten is a departure',
    file: 'src/actions/outgoing/return/book-departures.ts',
    from: 'event.collector === null &&',
    to: 'event.collector === "" &&',
    test: 'test/e2e/account-movements.test.ts',
    title: 'that the database has forgotten are left to the rebuild',
  },
  {
    name: 'payments that must wait are judged again before all others',
    file: 'src/store/chain/due-items.ts',
    from: "::jsonb ->> p.merchant_id, ''), p.id) as turn",
    to: "::jsonb ->> '', ''), p.id) as turn",
    test: 'test/attacks/stranger-endings.test.ts',
    title: 'delays no ending of others by payments that must wait',
  },
  {
    name: 'a report of the Collector freezes a network without the transfer of the token',
    file: 'src/actions/watch/notice-restore.ts',
    from: 'else if (!sealed.has(event) && !isMoved(takenBy(event), origin.transfers)) unproved.add(event);',
    to: 'else if (!sealed.has(event) && isMoved(takenBy(event), origin.transfers)) unproved.add(event);',
    test: 'test/attacks/forged-outgoing.test.ts',
    title: 'proves nothing without the transfer of the token itself',
  },
  {
    name: 'a payment has any number of coin actions',
    file: 'src/actions/paying/fetch-actions.ts',
    from: 'const MOST_OPEN = { ofAccount: 12, ofPayment: 48 };',
    to: 'const MOST_OPEN = { ofAccount: 12, ofPayment: 48_000 };',
    test: 'test/e2e/paying-fetch.test.ts',
    title: 'hands out so many to an account and for a payment',
  },
  {
    name: 'the highest nonce of two endpoints is taken',
    file: 'src/domain/quorum.ts',
    from: 'atLeast: counts.at(-2),',
    to: 'atLeast: counts.length < 2 ? undefined : counts.at(-1),',
    test: 'test/attacks/one-endpoint.test.ts',
    title: 'nonce: a count that is too high by 300',
  },
  {
    name: 'a used nonce in the name of an account with code counts before its signature',
    file: 'src/chains/evm/judge.ts',
    from: "const isSigned = verdict.is !== 'used' || (await",
    to: "const isSigned = verdict.is !== 'short_balance' || (await",
    test: 'test/chains/evm-chain.test.ts',
    title: 'calls an authorization of an account with code used only if the account has signed it',
  },
  {
    name: 'a used nonce is taken without its transfer',
    file: 'src/actions/paying/x402/accept-authorization.ts',
    from: "const isTaken = use === 'arrived';",
    to: "const isTaken = verdict.is === 'used';",
    test: 'test/e2e/x402.test.ts',
    title: 'takes no authorization whose nonce was used before',
  },
  {
    name: 'an opened address keeps an attempt alive',
    file: 'src/actions/watch/judge-payments.ts',
    from: 'if (first === undefined || addresses.length === items.length || !isOver) return;',
    to: 'if (first === undefined || addresses.length > 0 || !isOver) return;',
    test: 'test/attacks/stranger-lapses.test.ts',
    title: 'cannot keep a signature alive by an opened address and dust',
  },
  {
    name: 'the higher tip of two endpoints is paid',
    file: 'src/chains/evm/fees.ts',
    from: 'reported.map(usualTip).reduce(min);',
    to: 'reported.map(usualTip).reduce(max);',
    test: 'test/attacks/one-endpoint.test.ts',
    title: 'tip: the lower of two is paid',
  },
  {
    name: 'one endpoint says what an account of ours holds',
    file: 'src/actions/books/account-surplus.ts',
    from: 'const surplus = (await askHolding(chain.reader, { account, asset, block })) - (booked - pending);',
    to: 'const surplus = (await chain.reader.balance(account, block)) - (booked - pending);',
    test: 'test/attacks/forged-money.test.ts',
    title: 'is no unexpected coin',
  },
  {
    name: 'one endpoint lists the transfers to our accounts',
    file: 'src/actions/evidence.ts',
    from: 'if (!shown.transfers.some((each) => transferKey(each) === key)) denied.add(key);',
    to: 'if (shown.transfers.some((each) => transferKey(each) === `${key} not`)) denied.add(key);',
    test: 'test/attacks/forged-money.test.ts',
    title: 'is no unexpected token that its own receipts do not show',
  },
  {
    name: 'one endpoint says where a network begins',
    file: 'src/actions/watch/follow-chain.ts',
    from: 'const { block: first } = await askBlock(chain.reader, Math.max(0, Math.min(wanted, final)));',
    to: 'const first = (await chain.reader.block((await chain.reader.head()).number - (final - wanted))) as Block;',
    test: 'test/attacks/forged-money.test.ts',
    title: 'begins in a block that two endpoints know',
  },
  {
    name: 'items of a relayer whose key is gone are not due again',
    file: 'src/actions/watch/maintain-former-sends.ts',
    from: '(tx) => releaseStranded(tx, { network, signers, before }));',
    to: 'async () => 0);',
    test: 'test/e2e/former-relayers.test.ts',
    title: 'have their payments sent by others when their transaction cannot be mined',
  },
  {
    name: 'open work is expected on configured networks alone',
    file: 'src/actions/oversight/missing-networks.ts',
    from: 'const open = await findOpenNetworks(db, served);',
    to: 'const open = (await findOpenNetworks(db, served)).filter(({ network }) => served.includes(network));',
    test: 'test/e2e/removed-network.test.ts',
    title: 'raises an alert and is named by /ready while it has open work',
  },
  {
    name: 'a swept wrong token blocks every signature of its payment',
    file: 'src/store/chain/due-items.ts',
    from: "and other.purpose <> 'sweep' and other.method not in",
    to: 'and other.method not in',
    test: 'test/e2e/money-faults.test.ts',
    title: 'in a wrong token, swept by us, keeps no signature of the payment from being sent',
  },
  {
    name: 'a float is credited with money that has an owner',
    file: 'src/actions/outgoing/float/add-float.ts',
    from: ': await unownedOf(db.sql, { network, accounts }, arrived);',
    to: ': arrived;',
    test: 'test/e2e/money-faults.test.ts',
    title: 'is no float if a stranger has swept it',
  },
  {
    name: 'our accounts are those of the settings alone',
    file: 'src/actions/own-accounts.ts',
    from: 'return unique([...configuredAccounts(connected), ...stored])',
    to: 'return unique([...configuredAccounts(connected), ...stored.slice(stored.length)])',
    test: 'test/e2e/own-accounts.test.ts',
    title: 'have paid refunds that a database from before the change does not pay twice',
  },
  {
    name: 'a floor is taken away',
    file: 'src/domain/book-floors.ts',
    from: "if (KINDS[entry.kind] === 'spends') throw new FloorError(taken, entry.kind);",
    to: '',
    test: 'test/e2e/floors.test.ts',
    title: 'refuses to take more than there is from payable, by a payout',
  },
  {
    name: 'solvency is compared with another asset',
    file: 'src/actions/books/audit/solvency.ts',
    from: 'heldAt(deps, connected, { accounts, asset: each.asset, block, hash });',
    to: 'heldAt(deps, connected, { accounts, asset: coinOf(network), block, hash });',
    test: 'test/e2e/solvency.test.ts',
    title: 'freezes what leaves in the asset when it lacks at two successive blocks',
  },
  {
    name: 'a rebuild takes held sweeps for money of nobody',
    file: 'src/actions/books/restore/rebuild.ts',
    from: 'const transfers = await unownedOf(sql, { network, accounts }, found);',
    to: 'const transfers = found.filter(() => unownedOf.length > 0);',
    test: 'test/e2e/rebuild-restored.test.ts',
    title: 'does not take held money of a deposit address, swept by us',
  },
  {
    name: 'a stranger pays an open payment by a call that names it, and a rebuild',
    file: 'src/actions/books/restore/restore-payment.ts',
    from: 'if (payment !== undefined && hasOwnSeal(event) !== true) throw new Unplaced(NOT_OURS);',
    to: '',
    test: 'test/e2e/books-rebuild.test.ts',
    title: 'by the first release of the Collector',
  },
  {
    name: 'a merchant with money is deleted',
    file: 'src/actions/parties/change-merchant.ts',
    from: 'refuseStranding(await countMerchantMoney(tx, merchant.id));',
    to: '',
    test: 'test/e2e/deleted-merchants.test.ts',
    title: 'is not deleted while it has money held',
  },
  {
    name: 'open payments of a deleted merchant are paid',
    file: 'src/store/parties/freezes.ts',
    from: 'return sql`(m.deleted_at is not null or ',
    to: 'return sql`(',
    test: 'test/e2e/deleted-merchants.test.ts',
    title: 'is not offered and not paid any more',
  },
  {
    name: 'one address on two networks has one row',
    file: 'src/store/chain/deposits.ts',
    from: '{ isTaken: others.length > 0 }',
    to: '{ isTaken: others.length < 0 }',
    test: 'test/e2e/money-faults.test.ts',
    title: 'has one address on two networks as two ways to pay',
  },
  {
    name: 'all blocks since an outage are one page',
    file: 'src/actions/watch/deposits/read-movements.ts',
    from: 'const PAGE = 500;',
    to: 'const PAGE = 500_000_000;',
    test: 'test/e2e/money-faults.test.ts',
    title: 'is read in pages after an outage of a month',
  },
  {
    name: 'the cursor of addresses stands still while none is watched',
    file: 'src/actions/watch/deposits/read-movements.ts',
    from: 'if (isIdle && (cursor === undefined || view.finalNumber - cursor.finalNumber < IDLE_STEP)) return false;',
    to: 'if (isIdle) return false;',
    test: 'test/e2e/money-faults.test.ts',
    title: 'is not looked for in blocks of a quiet month',
  },
  {
    name: 'addresses that must wait are checked again before all others',
    file: 'src/store/chain/deposit-places.ts',
    from: 'order by p.looked_at nulls first, p.number limit',
    to: 'order by p.number limit',
    test: 'test/attacks/stranger-endings.test.ts',
    title: 'delays no payment at an address by dust in every block',
  },
  {
    name: 'positions that cannot be computed come before all others',
    file: 'src/store/money/positions.ts',
    from: 'where is_stale order by updated_at, payment_id limit',
    to: 'where is_stale order by payment_id limit',
    test: 'test/e2e/rows-isolated.test.ts',
    title: 'keeps no other position from being computed',
  },
  {
    name: 'payouts that must wait come before all others',
    file: 'src/store/money/payable-lots.ts',
    from: 'and (p.retry_at is null or p.retry_at <= ${ask.now} or p.destination is distinct from c.destination)',
    to: "and (p.retry_at is null or p.retry_at > p.retry_at - interval '1 s' or ${ask.now} is null)",
    test: 'test/e2e/held-lots.test.ts',
    title: 'with a destination that the gateway did not write wait',
  },
  {
    name: 'each sweep of a stranger has a transaction of its own',
    file: 'src/actions/watch/deposits/settle-swept.ts',
    from: 'const PAGE = 20;',
    to: 'const PAGE = 1;',
    test: 'test/e2e/bounded-watching.test.ts',
    title: 'applies the sweeps of thirty addresses',
  },
  {
    name: 'each forged event has a transaction of its own',
    file: 'src/actions/watch/notice-restore.ts',
    from: 'await commandOfLeader(deps, lease, (tx) => deleteEvents(tx, network, forged));',
    to: 'for (const each of forged) await commandOfLeader(deps, lease, (tx) => deleteEvents(tx, network, [each]));',
    test: 'test/e2e/bounded-watching.test.ts',
    title: 'deletes forty forged events by one statement',
  },
  {
    name: 'a reorganisation reads all movements',
    file: 'src/store/chain/movements.ts',
    from: 'delete from movements where network = ${network} and block_number > ${number}',
    to: 'delete from movements where network = ${network} and block_number + 0 > ${number}',
    test: 'test/e2e/bounded-watching.test.ts',
    title: 'reads no table from end to end when the chain reorganises',
  },
  {
    name: 'addresses are remembered for ever',
    file: 'src/actions/watch/deposits/read-movements.ts',
    from: 'places.byAddress.delete(address);',
    to: '',
    test: 'test/e2e/bounded-watching.test.ts',
    title: 'remembers no address for longer than it is watched',
  },
  {
    name: 'dust keeps programs from paying',
    file: 'src/store/chain/deposit-progress.ts',
    from: 'where d.payment_id = ${paymentId} and i.amount <= (',
    to: 'where d.payment_id = ${paymentId} and 0 < (',
    test: 'test/e2e/x402.test.ts',
    title: 'asks to pay beside dust',
  },
  {
    name: 'endpoints are asked for each event of a stranger',
    file: 'src/actions/watch/notice-restore.ts',
    from: "const served = unknown.filter((event) => event.type !== 'refused' && assets.has(takenBy(event).asset));",
    to: "const served = unknown.filter((event) => event.type !== 'refused');",
    test: 'test/attacks/strange-events.test.ts',
    title: 'makes endpoints be asked no more often by 700 events',
  },
  {
    name: 'an owner is decided twice',
    file: 'src/domain/money/owner.ts',
    from: "if (commitment !== undefined) return [wholeOf(leg, { is: 'deposit', network: leg.network, commitment })];",
    to: "if (commitment !== undefined)\n    return [wholeOf(leg, { is: 'deposit', network: leg.network, commitment }), ...(explained ?? [])];",
    test: 'src/domain/money/properties.test.ts',
    title: 'explain every unit of a leg',
  },
  {
    name: 'a lot is spent by two orders',
    file: 'src/domain/money/holding.ts',
    from: 'lot.net - (spent.get(lot.id) ?? 0n)',
    to: 'lot.net',
    test: 'src/domain/money/faults.test.ts',
    title: 'is not spent again',
  },
  {
    name: 'a raised fee takes a whole open payment',
    file: 'src/actions/paying/terms-in-force.ts',
    from: 'isBelowFees: isBelowFees(deps, merchant, payment),',
    to: 'isBelowFees: false,',
    test: 'test/e2e/raised-fees.test.ts',
    title: 'takes nothing of it',
  },
  {
    name: 'the fees of all sweeps are bounded by the fee of one',
    file: 'src/actions/outgoing/return/check-return.ts',
    from: 'BigInt(unexpected.fee) <= mostFeesOf(item, BigInt(unexpected.amount))',
    to: 'BigInt(unexpected.fee) <= BigInt(item.fee)',
    test: 'test/e2e/late-money.test.ts',
    title: 'arrives from a deposit address that was swept twice',
  },
  {
    name: 'a sweep of removed money is ordered for ever',
    file: 'src/actions/watch/deposits/order-sweeps.ts',
    from: "sweep.state === 'due' && !waiting.has(placeOf(sweep))",
    to: "lots.length > 0 && sweep.state === 'due' && !waiting.has(placeOf(sweep))",
    test: 'test/e2e/money-faults.test.ts',
    title: 'that a deep reorganisation removes before its sweep',
  },
  {
    name: 'a payout of removed money waits for ever',
    file: 'src/actions/outgoing/begin/begin-outgoing.ts',
    from: ' || (await recallUnheld(deps, outgoing))',
    to: '',
    test: 'test/e2e/money-faults.test.ts',
    title: 'that a deep reorganisation removes before its payout is signed',
  },
  {
    name: 'new transfers are explained by events of replaced blocks',
    file: 'src/actions/outgoing/return/record-unexpected-transfers.ts',
    from: '(hashes.get(block.number) ?? block.hash) === block.hash',
    to: 'hashes.size >= 0 && block.hash !== ""',
    test: 'test/e2e/money-faults.test.ts',
    title: 'is not unexpected because its events were read',
  },
  {
    name: 'a watcher freezes a network that was rebuilt meanwhile',
    file: 'src/actions/watch/notice-restore.ts',
    from: '    if ((await findItemsOfEvents(tx, network, [commitment])).length > 0) return;\n',
    to: '',
    test: 'test/e2e/unsaid-restore.test.ts',
    title: 'had read the events before the rebuild',
  },
  {
    name: 'a rebuild does not place the return of a lot that has grown',
    file: 'src/actions/books/restore/restore-outgoing.ts',
    from: 'unexpected.asset !== asset || was < amount',
    to: 'unexpected.asset !== asset || was !== amount',
    test: 'test/e2e/late-money.test.ts',
    title: 'dust has joined its lot',
  },
  {
    name: 'amounts of two tokens are paid out together',
    file: 'src/domain/money/holding.ts',
    from: 'return `${payment} ${network} ${asset} ${account}`;',
    to: 'return `${payment} ${network} ${asset.slice(0, 0)} ${account}`;',
    test: 'test/e2e/money-faults.test.ts',
    title: 'is never added across tokens: a stranger sweeps both, and a wallet pays',
  },
  {
    name: 'held money is paid out while its payment is open',
    file: 'src/store/money/payable-lots.ts',
    from: 'and y.status = any(${ENDED as string[]}::text[]))',
    to: 'and (y.status = any(${ENDED as string[]}::text[]) or true))',
    test: 'test/e2e/held-lots.test.ts',
    title: 'are not paid out while the payment is open, its position is outdated, or its return is asked for',
  },
  {
    name: 'transfers by the Collector to a deposit address are not read',
    file: 'src/actions/watch/deposits/read-movements.ts',
    from: 'if (place === undefined) return [];',
    to: 'if (place === undefined || payers.length > 0) return [];',
    test: 'test/e2e/money-faults.test.ts',
    title: 'counts when the Collector has sent it to a deposit address',
  },
  {
    name: 'the second collection of a commitment is ignored',
    file: 'src/actions/watch/settle-paid.ts',
    from: 'await noteSecond(deps, input);',
    to: 'void noteSecond;',
    test: 'test/e2e/money-faults.test.ts',
    title: 'is unexpected money if one commitment was collected twice',
  },
  {
    name: 'money after the end of a payment is not named',
    file: 'src/actions/watch/deposits/settle-position.ts',
    from: 'named?.has(lot.id) !== true',
    to: 'named?.has(lot.id) === false',
    test: 'test/e2e/money-faults.test.ts',
    title: 'that tops a tolerated underpayment up is named, and can be given back',
  },
  {
    name: 'a list shows the x402 authorization as the item that paid',
    file: 'src/store/chain/items.ts',
    from: "and i.purpose <> 'sweep' and i.method not in ('deposit-vrs', 'deposit-bytes')",
    to: "and i.purpose <> 'sweep'",
    test: 'test/e2e/deposit-money.test.ts',
    title: 'show the address that was paid, and not the x402 authorization that brought the money',
  },
  {
    name: 'money that paid is not swept below the minimum',
    file: 'src/domain/money/money-out.ts',
    from: 'isPaying || rules.returning.has(id)) || amount >= least;',
    to: '!isPaying && rules.returning.has(id)) || amount >= least;',
    test: 'test/e2e/money-faults.test.ts',
    title: 'is swept if it paid, however little that is worth',
  },
  {
    name: 'dust of a listed sender stops a sweep',
    file: 'src/domain/money/money-out.ts',
    from: '(stopped > 0n && stopped >= least)',
    to: 'stopped > 0n',
    test: 'test/e2e/money-faults.test.ts',
    title: 'stops no sweep if it is dust',
  },
  {
    name: 'money of a listed sender stops the sweep of its address for good',
    file: 'src/actions/watch/deposits/settle-position.ts',
    from: 'screened.filter((lot) => !isReleased(lot))',
    to: 'screened.filter((lot) => !isReleased(lot) || true)',
    test: 'test/e2e/money-faults.test.ts',
    title: 'stops the sweep until an operator lets the address be swept, which is in the audit log',
  },
  {
    name: 'unexpected money is given back to the Collector',
    file: 'src/actions/outgoing/return/return-unexpected.ts',
    from: 'refuseLost(deps, unexpected, recipient);',
    to: 'void refuseLost;',
    test: 'test/e2e/money-faults.test.ts',
    title:
      'through the Collector, to the intermediate account, by a stranger is unexpected money that an operator can give back',
  },
  {
    name: 'the payment of a stranger to our account is a difference for ever',
    file: 'src/actions/books/audit/compare-events.ts',
    from: 'isOurs: (event) => isOurs(event) && !isNamed(event),',
    to: 'isOurs: (event) => isOurs(event) || isNamed(event),',
    test: 'test/e2e/money-faults.test.ts',
    title:
      'through the Collector, to the intermediate account, by a stranger is unexpected money that an operator can give back',
  },
  {
    name: 'late money settles an expired payment',
    file: 'src/actions/outgoing/payout/payout-consequences.ts',
    from: 'spends.filter(({ isPaying }) => isPaying === true).reduce(',
    to: 'spends.reduce(',
    test: 'test/e2e/money-faults.test.ts',
    title: 'after the end of an expired payment is paid out, and settles nothing',
  },
  {
    name: 'vetoed refunds use up the twelve numbers',
    file: 'src/actions/outgoing/refund/refundable.ts',
    from: "refunds.filter(({ state, problem }) => state === 'failed' && problem === VETOED);",
    to: "refunds.filter(({ state, problem }) => state === 'failed' && problem === `${VETOED}?`);",
    test: 'test/e2e/held-lots.test.ts',
    title: 'come back from vetoed refunds, whose numbers are used again when all twelve are gone',
  },
  {
    name: 'a deep reorganisation that removes a deposit is silent',
    file: 'src/actions/watch/roll-back.ts',
    from: '    await reportLost(tx, lost, at);\n',
    to: '    void reportLost;\n',
    test: 'test/e2e/money-faults.test.ts',
    title: 'leaves a debt if a deep reorganisation takes it after its payout, which the same money fills',
  },
  {
    name: 'transfers that cannot be begun come before all others',
    file: 'src/store/money/outgoing.ts',
    from: 'order by coalesce(retry_at, created_at), created_at limit ${limit}',
    to: 'order by created_at limit ${limit}',
    test: 'test/e2e/payouts.test.ts',
    title: 'that cannot be begun for a fault of their own hold up no other, however few have a turn in a round',
  },
  {
    name: 'items that were refused come before all others',
    file: 'src/store/chain/due-items.ts',
    from: 'turn, coalesce(retry_at, accepted_at), accepted_at limit ${ask.limit}',
    to: 'turn, accepted_at limit ${ask.limit}',
    test: 'test/e2e/full-queues.test.ts',
    title: 'delays no item that can be sent',
  },
  {
    name: 'transfers that cannot be judged come before all others',
    file: 'src/store/chain/due-items.ts',
    from: 'items order by key <= ${after}, key limit ${limit}',
    to: 'items order by key <= ${after} and false, key limit ${limit}',
    test: 'test/e2e/full-queues.test.ts',
    title: 'delays the end of no transfer',
  },
  {
    name: 'disputed transfers are asked about before all others',
    file: 'src/actions/watch/notice-restore.ts',
    from: 'memory.turns.claims = claims.length > MAX_PROVED ? memory.turns.claims + MAX_PROVED : 0;',
    to: 'memory.turns.claims = 0;',
    test: 'test/e2e/unsaid-restore.test.ts',
    title: 'is noticed behind transfers about which the endpoints contradict each other',
  },
  {
    name: 'nonces of the first relayer come before those of all others',
    file: 'src/store/chain/sends.ts',
    from: 'order by row_number() over (partition by s.signer order by s.nonce), s.signer limit',
    to: 'order by s.signer, s.nonce limit',
    test: 'test/e2e/full-queues.test.ts',
    title: 'delays the end of no transaction',
  },
  {
    name: 'changes that nobody ordered come before all others',
    file: 'src/actions/parties/cool-off-destinations.ts',
    from: 'after = last;',
    to: 'after = undefined;',
    test: 'test/e2e/full-queues.test.ts',
    title: 'delays no change of a destination',
  },
  {
    name: 'events about which endpoints contradict each other come before all others',
    file: 'src/actions/watch/decide-events.ts',
    from: 'after: memory.turns.event, limit',
    to: 'after: undefined, limit',
    test: 'test/e2e/bounded-watching.test.ts',
    title: 'decides events behind those about which the endpoints contradict each other, however many these are',
  },
  {
    name: 'each transfer of dust is folded by itself',
    file: 'src/store/chain/place-checkpoints.ts',
    from: 'm.amount < coalesce((${limits} ->> m.asset)::numeric, 0) as is_dust',
    to: 'm.amount < 0 * coalesce((${limits} ->> m.asset)::numeric, 0) as is_dust',
    test: 'test/e2e/bounded-watching.test.ts',
    title: 'adds thousands of dust transfers up in the database, as a walk over all of them would',
  },
  {
    name: 'each look at an address adds all its dust up again',
    file: 'src/store/chain/place-checkpoints.ts',
    from: 'return rows.length >= count;',
    to: 'return rows.length > count;',
    test: 'test/e2e/bounded-watching.test.ts',
    title: 'reads as few transfers at 5,000 as at 500',
  },
  {
    name: 'the end of a payment reads each transfer of dust',
    file: 'src/actions/watch/deposits/fate-of-deposit.ts',
    from: 'await dustLimitsOf(sql, deps.registry, paymentId)',
    to: '(await dustLimitsOf(sql, deps.registry, paymentId)) && {}',
    test: 'test/e2e/bounded-watching.test.ts',
    title: 'reads as few transfers at 5,000 as at 500',
  },
  {
    name: 'a checkpoint outlives a change of its movements',
    file: 'migrations/0061_place_checkpoints.sql',
    from: ' and up_to >= place.since;',
    to: " and up_to >= place.since + interval '1 year';",
    test: 'test/e2e/place-checkpoints.test.ts',
    title: 'go with the movements that a reorganisation deeper than final depth removes',
  },
  {
    name: 'a checkpoint is written beside a movement that is being stored',
    file: 'migrations/0061_place_checkpoints.sql',
    from: 'and commitment = place.commitment for no key update;',
    to: 'and commitment = place.commitment;',
    test: 'test/e2e/place-checkpoints.test.ts',
    title: 'miss no transfer that another transaction is storing at that moment',
  },
  {
    name: 'a checkpoint contains movements behind one that is not proved',
    file: 'src/store/chain/place-checkpoints.ts',
    from: "and not is_proved), 'infinity')",
    to: "and not is_proved) + interval '1 year', 'infinity')",
    test: 'test/e2e/place-checkpoints.test.ts',
    title: 'give the same movements and sums as a walk over all of them, whatever comes, goes and changes',
  },
  {
    name: 'a checkpoint is used with other limits of dust',
    file: 'src/store/chain/place-checkpoints.ts',
    from: 'c.payment_id = ${paymentId} and c.dust_below <@ ${limits}',
    to: 'c.payment_id = ${paymentId}',
    test: 'test/e2e/place-checkpoints.test.ts',
    title: 'give the same movements and sums as a walk over all of them, whatever comes, goes and changes',
  },
  {
    name: 'an address is not looked at again while some of its transfers are not proved',
    file: 'src/store/chain/deposit-places.ts',
    from: 'and m.commitment = ${commitment} and not m.is_proved)',
    to: 'and m.commitment = ${commitment} and m.block_number > ${block})',
    test: 'test/e2e/deposit-bad-input.test.ts',
    title: 'counts every transfer of thirty in a block, although the balance is more than their sum',
  },
  {
    name: 'a payment is ended while some of its transfers are not proved',
    file: 'src/actions/watch/deposits/explain-place.ts',
    from: 'isWhole: !hasMore || (isExact && rest.length < MAX_REST),',
    to: 'isWhole: true,',
    test: 'test/e2e/deposit-bad-input.test.ts',
    title: 'is paid by sixty transfers that were read after its deadline, although the balance is more than their sum',
  },
  {
    name: 'a rotation of the secret writes all rows in one transaction',
    file: 'src/actions/renew-macs.ts',
    from: 'const PAGE = 200;',
    to: 'const PAGE = 200_000;',
    test: 'test/e2e/secrets.test.ts',
    title: 'are rotated in pages: payments wait for no row, and for no freeze, while the rotation goes on or waits',
  },
];

const ROOT = join(import.meta.dirname, '../..');
/** Folders that the copy has by reference: no test changes them. */
const SHARED = ['node_modules', 'web', 'docs'];
const LEFT_OUT = ['.git', ...SHARED];

/** A copy of the project whose source can be changed. */
export function openCopy() {
  const folder = mkdtempSync(join(tmpdir(), 'till-mutants-'));
  for (const name of readdirSync(ROOT)) {
    if (SHARED.includes(name)) symlinkSync(join(ROOT, name), join(folder, name));
    else if (!LEFT_OUT.includes(name)) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }

  /** Runs that test alone. */
  async function passes({ test, title }: Pick<NamedMutant, 'test' | 'title'>): Promise<boolean> {
    const pattern = title.replace(/[^\w ]/g, '.');
    const options = ['--test', '--test-global-setup=test/global-setup.ts', `--test-name-pattern=${pattern}`];
    const child = spawn(process.execPath, [...options, test], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
    const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    if (!output.includes(` ${title}`)) throw new Error(`${test} has no test "${title}", or did not run.`);
    return !output.includes(`✖ ${title}`);
  }

  return {
    /** True if the named test fails with the change. Without it, the test must pass. */
    async isNoticed({ file, from, to, test, title }: NamedMutant): Promise<boolean> {
      const path = join(folder, file);
      const source = readFileSync(path, 'utf8');
      if (source.split(from).length !== 2) throw new Error(`${file} does not contain this once: ${from}`);
      if (!(await passes({ test, title }))) throw new Error(`${test} "${title}" fails without a change, too.`);
      writeFileSync(
        path,
        source.replace(from, () => to),
      );
      const isNoticed = !(await passes({ test, title }));
      writeFileSync(path, source);
      return isNoticed;
    },
    close: () => rmSync(folder, { recursive: true }),
  };
}
