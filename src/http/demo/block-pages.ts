import type { Block, Chain, ChainEvent } from '../../chains/chain.ts';
import { findAsset } from '../../chains/networks.ts';
import { idFromBytes } from '../../domain/ids.ts';
import { formatDecimal } from '../../domain/money.ts';
import { type Html, html } from '../reference/html.ts';
import type { DemoPage } from './demo-page.ts';

const RECENT = 20;

/** The newest blocks, and what was paid in them. */
export async function blocksPage(chain: Chain): Promise<DemoPage> {
  const head = await chain.head();
  const first = Math.max(0, head.number - RECENT + 1);
  const numbers = Array.from({ length: head.number - first + 1 }, (_, index) => head.number - index);
  const [blocks, events] = await Promise.all([
    Promise.all(numbers.map((number) => chain.block(number))),
    chain.events(first, head.number),
  ]);
  const rows = blocks.flatMap((block) => (block === undefined ? [] : [blockRow(block, events)]));
  return {
    title: 'Blocks · Till sandbox',
    body: html`<h1>Blocks</h1><p class="lead">The newest blocks of the sandbox chain, and what the Collector did in them.</p>
<ol class="blocks">${rows}</ol>`,
  };
}

function blockRow({ number, hash, timestampS }: Block, events: readonly ChainEvent[]): Html {
  const own = events.filter((event) => event.block.hash === hash);
  return html`<li><div class="head"><strong>${number}</strong><time>${timeText(timestampS)}</time></div>
${own.length === 0 ? html`<p class="faint">No payments</p>` : html`<ul>${own.map(eventLine)}</ul>`}</li>`;
}

function eventLine(event: ChainEvent): Html {
  const text = event.type === 'paid' ? `${amountText(event)} paid` : `An item was refused: ${wordsOf(event.reason)}`;
  return html`<li><a href="/sandbox/tx/${event.transactionHash}">${text}</a></li>`;
}

/** One transaction, with what the Collector reported of it in words. Undefined when the chain does not know it. */
export async function transactionPage(chain: Chain, hash: string): Promise<DemoPage | undefined> {
  const found = await chain.findTransaction(hash);
  if (found.is === 'unknown') return undefined;
  const title = 'Transaction · Till sandbox';
  if (found.is === 'pending') {
    return { title, refreshS: 1, body: html`<h1>Transaction</h1>${facts({ Hash: hash, State: 'Waits for a block' })}` };
  }
  const { number } = found.block;
  const events = (await chain.events(number, number)).filter((event) => event.transactionHash === hash);
  const block = await chain.block(number);
  return {
    title,
    body: html`<h1>Transaction</h1>
${facts({
  Hash: hash,
  State: found.isReverted ? 'Reverted' : 'Confirmed',
  Block: String(number),
  Time: block === undefined ? '' : timeText(block.timestampS),
  'Gas paid': `${formatDecimal({ units: found.gasSpent, decimals: 18 })} ETH`,
})}
<h2>What happened</h2>
${events.length === 0 ? html`<p class="faint">Nothing that the Collector had a part in.</p>` : events.map(story)}`,
  };
}

function story(event: ChainEvent): Html {
  if (event.type === 'refused') {
    return html`<section class="story"><p>An item was refused: ${wordsOf(event.reason)}. Nobody was charged for it.</p></section>`;
  }
  const { payer, recipient, amount, fee, asset } = event;
  const id = idFromBytes('pay_', Buffer.from(event.subject, 'hex'));
  return html`<section class="story">
<p><strong>${amountText(event)}</strong> was paid for <a href="/${id}">${id}</a>.</p>
<p><code>${payer}</code> signed for it; <code>${recipient}</code> received ${tokenText(asset, amount - fee)}${fee > 0n && html`, and ${tokenText(asset, fee)} went to the fee account`}, in this same transaction.</p>
${facts({ Commitment: event.commitment })}
</section>`;
}

function facts(rows: Readonly<Record<string, string>>): Html {
  return html`<dl>${Object.entries(rows).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

function amountText({ asset, amount }: { readonly asset: string; readonly amount: bigint }): string {
  return tokenText(asset, amount);
}

function tokenText(asset: string, units: bigint): string {
  const known = findAsset(asset);
  return known === undefined
    ? `${units} of ${asset}`
    : `${formatDecimal({ units, decimals: known.decimals })} ${known.symbol}`;
}

function wordsOf(reason: string): string {
  return reason.replaceAll('_', ' ');
}

function timeText(timestampS: number): string {
  return new Date(timestampS * 1000).toISOString().replace('T', ' ').replace('.000Z', ' UTC');
}
