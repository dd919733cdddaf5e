// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are lines of source code
const SAME_IF_EQUAL = 'Both branches give the same for equal values.';
const ABOVE_EVERY_AMOUNT = 'The steps only end a search without a result. Either bound is above every amount.';

const COMPILED = 'The type of the table refuses it without this row. A missing one would read as `records`.';
const BOTH_GROUPS = 'A pattern gives both of its groups or none. The conditions are for the compiler.';
const ONE_INDEX = 'A log has its index for itself.';
const NOTHING_JOINS = 'Nothing that joins a lot changes nothing.';
const WAITING_JOINS = 'Money that joins a lot waits, so it has neither fee nor net amount.';
const MOVES_NOTHING = 'Moving no units changes nothing.';
const MARGIN = 'A margin. One unit more or less of it makes no difference to anybody.';
const CANONICAL = 'Only the one spelling of the bytes is accepted, on a line below.';
const NAMED_ONCE = 'An object has each name once.';
const ASKS_FOR_LESS = 'The sort of V8 asks only whether the result is below zero.';
const LAST_32_BITS = '`setUint32` writes the last 32 bits of any number.';
const BRACKETS = 'A parsed host has brackets at its ends alone.';
const CHOSEN = 'A number that was chosen. A test would repeat it.';
const NO_SUCH_LENGTH = 'No option is so long. The bound only keeps long texts from the cipher.';
const AUTHENTICATED = 'A text that was not made by us does not open either. The bound only saves the work.';
const ALL_THREE = 'The pattern gives three numbers, and no more than three are read.';
const NO_COLOUR_HAS_IT = 'None of the 2 ** 24 colours has exactly this contrast, or the same contrast twice.';
const THREE_CHANNELS = 'A colour has three channels. The default is for the compiler.';
const COMPILED_ONCE = 'The map only saves the time to compile a list again.';
const PREPARED_ONCE = 'The map only saves the time to prepare a key again.';
const HASHED_ONCE = 'The map only saves the time to hash an address again.';
const NO_LONG_KEY = 'No such text has 32 bytes. The bound only keeps long texts from the decoder.';
const SHORT_REFERENCE = 'The grammar has at most 32 characters here.';
const ONE_LINE = 'A sum has one line for each account.';
const NO_LINE_OF_ZERO = 'Entries have no lines of zero units.';

/**
 * Mutants of `src/domain` that no test can notice, by file: the line as the mutant has it, and the reason. `mutate-domain.ts` reads
 * them, and refuses a row whose mutant does not exist any more or is noticed by a test.
 */
export const EQUIVALENT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'accent.ts': {
    'if (ratio > LEAST_ON_PAGE) return undefined;': NO_COLOUR_HAS_IT,
    'const text = contrast(main, WHITE) > contrast(main, BLACK) ? WHITE : BLACK;': NO_COLOUR_HAS_IT,
    'const isGood = (hover: string) => weakest(hover).ratio > LEAST_ON_PAGE && contrast(hover, text) >= LEAST_OF_TEXT;':
      NO_COLOUR_HAS_IT,
    'const isGood = (hover: string) => weakest(hover).ratio >= LEAST_ON_PAGE && contrast(hover, text) > LEAST_OF_TEXT;':
      NO_COLOUR_HAS_IT,
    'return all.reduce((worst, each) => (each.ratio <= worst.ratio ? each : worst));': NO_COLOUR_HAS_IT,
    '.find((colour) => weakest(colour).ratio > LEAST_ON_PAGE);': NO_COLOUR_HAS_IT,
    '.findLast((colour) => weakest(colour).ratio >= LEAST_ON_PAGE);':
      'A colour that is too dark is not visible with black either, and one that is too bright not with white.',
    'for (let percent = 0; percent <= 100; percent += 1) {': 'The colour itself was refused.',
    'for (let percent = 1; percent < 100; percent += 1) {': 'Greys of medium brightness come before.',
    'for (let percent = 1; percent <= 101; percent += 1) {': 'Greys of medium brightness come before.',
    '(without) throw new Error(`No colour like ${accent} is visible in both themes.`);':
      'Greys of medium brightness come before. The statement is for the compiler.',
    'const mixed = Math.round(value + ((channels(end)[index] ?? 1) - value) * (percent / 100));': THREE_CHANNELS,
    'const [red = 1, green = 0, blue = 0] = channels(colour).map((value) => {': THREE_CHANNELS,
    'const [red = 0, green = 1, blue = 0] = channels(colour).map((value) => {': THREE_CHANNELS,
    'const [red = 0, green = 0, blue = 1] = channels(colour).map((value) => {': THREE_CHANNELS,
    'return share < 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;':
      'The bound is between two values of a channel.',
  },
  'addresses/eip155.ts': {
    'const MAX_SPELLINGS = 10001;': HASHED_ONCE,
    'if (false && (known !== undefined)) return known;': HASHED_ONCE,
    "if (true || (spellings.size >= MAX_SPELLINGS)) spellings.delete(spellings.keys().next().value ?? '');":
      HASHED_ONCE,
    "if (false && (spellings.size >= MAX_SPELLINGS)) spellings.delete(spellings.keys().next().value ?? '');":
      HASHED_ONCE,
    "if (spellings.size > MAX_SPELLINGS) spellings.delete(spellings.keys().next().value ?? '');": HASHED_ONCE,
    "if (spellings.size >= MAX_SPELLINGS) spellings.delete(spellings.keys().next().value && '');": HASHED_ONCE,
    '(without) spellings.set(lowerHex, spelling);': HASHED_ONCE,
    "if (/0x0+$/.test(text)) return refuse('has the all-zero address, which is neither a token nor an account');":
      'A text with `0x` in another place is refused before.',
  },
  'addresses/solana.ts': {
    "(without) slotWord: 'number',": 'Without a word of its own, a family has this one.',
    'return /[1-9A-HJ-NP-Za-km-z]{32}$/.test(text)': SHORT_REFERENCE,
    'return /^[1-9A-HJ-NP-Za-km-z]{32}/.test(text)': SHORT_REFERENCE,
    'const MAX_LENGTH = 129;': NO_LONG_KEY,
    'if (false && (text.length > MAX_LENGTH)) return undefined;': NO_LONG_KEY,
    'if (text.length >= MAX_LENGTH) return undefined;': NO_LONG_KEY,
  },
  'addresses/families.ts': {
    'return NAMESPACES.map((name) => FAMILIES[name].parseTransactionId(text)).findLast((id) => id !== undefined);':
      'The forms of the families exclude each other.',
  },
  'accepted-assets.ts': { 'export const MAX_ACCEPTED_ASSETS = 101;': CHOSEN },
  'address-list.ts': {
    "return version !== 1 && blocksOf(list).check(plain, version === 4 ? 'ipv4' : 'ipv6');":
      'A `BlockList` answers that a text without an address is not in it.',
    'if (false && (found !== undefined)) return found;': COMPILED_ONCE,
    '(without) known.set(list, blocks);': COMPILED_ONCE,
  },
  'book-floors.ts': {
    ...Object.fromEntries(
      [
        ...['rebuilt', 'payout_rebuilt', 'refund_rebuilt', 'return_rebuilt', 'payout_done', 'payout_failed'],
        ...['refund_done', 'refund_failed', 'refund_uncovered', 'float_added', 'float_returned'],
        ...[
          'float_return_failed',
          'stray_returned',
          'stray_return_failed',
          'relayer_funded',
          'gas',
          'coin_renamed',
          'departed',
        ],
      ].map((kind) => [`(without) ${kind}: 'records',`, COMPILED]),
    ),
    'const has = balances.findLast(isSame)?.units ?? 0n;': 'An account has one balance of an asset.',
    'let excess = -taken.units - (has >= 0n ? has : 0n);': SAME_IF_EQUAL,
    'const line = entry.lines.findLast(({ account, units }) => units < 0n && isSame({ account, asset: entry.asset }));':
      'An entry has one line for each account.',
    'const line = entry.lines.find(({ account, units }) => units <= 0n && isSame({ account, asset: entry.asset }));':
      NO_LINE_OF_ZERO,
    'const line = entry.lines.find(({ account, units }) => units < 1n && isSame({ account, asset: entry.asset }));':
      NO_LINE_OF_ZERO,
    'const part = excess <= -line.units ? excess : -line.units;': SAME_IF_EQUAL,
  },
  'books.ts': {
    "if (kept.reduce((sum, { units }) => sum - units, 0n) !== 0n) throw new RangeError('An entry does not balance.');":
      'The sum with the other sign is zero at the same time.',
  },
  'clock-off.ts': {
    "const where = offMs >= 0 ? 'ahead of' : 'behind';": 'A clock that is right was answered above.',
    "const where = offMs > 1 ? 'ahead of' : 'behind';": 'A clock that is right was answered above.',
  },
  'cursor.ts': {
    'const MAX_LENGTH = 1025;': 'Bytes in base64 never have 1025 characters.',
    'if (cursor.length > MAX_LENGTH || !/[\\w-]+$/.test(cursor)) return undefined;': CANONICAL,
    'if (cursor.length > MAX_LENGTH || !/^[\\w-]+/.test(cursor)) return undefined;': CANONICAL,
    'const payload = [opened, sealed].findLast((each) => timingSafeEqual(nonce, mac(key, query, each)));':
      'Two texts with the same MAC would break it.',
    'if (true || (derived === undefined)) {': PREPARED_ONCE,
    '(without) encryptionKeys.set(key, derived);': PREPARED_ONCE,
  },
  'deposit.ts': {
    'export const LEAST_LEFT_MS = 120001;': MARGIN,
    'const paying = received <= due ? received : due;': SAME_IF_EQUAL,
  },
  'doctor/diagnosis.ts': {
    'return `${power === 0 || size > 100 ? Math.round(size) : Math.round(size * 10) / 10} ${UNITS[power]}`;':
      'Exactly a hundred is written the same in both forms.',
  },
  'doctor/judge-outside.ts': {
    'const LAG_MS = 15001;': MARGIN,
    'const youngest = Math.min(...up.map(({ headAgeMs }) => headAgeMs ?? 1));': 'Either age is that of a fresh block.',
  },
  'fees.ts': {
    'return total <= amount ? total : amount;': SAME_IF_EQUAL,
    'return fixed <= total ? fixed : total;': SAME_IF_EQUAL,
    'for (let steps = 1; !covers(high) && steps < MAX_STEPS; steps += 1) high *= 2n;': ABOVE_EVERY_AMOUNT,
    'for (let steps = 0; !covers(high) && steps <= MAX_STEPS; steps += 1) high *= 2n;': ABOVE_EVERY_AMOUNT,
    'for (let steps = 0; !covers(high) && steps < MAX_STEPS; steps += 1) high *= 3n;': ABOVE_EVERY_AMOUNT,
    'const MAX_STEPS = 301;': ABOVE_EVERY_AMOUNT,
    'const listed = fixed.findLast((part) => unitKey(part.unit) === unitKey(unit));':
      'A unit is listed once: the command that sets fees refuses a second one.',
    'const { units, decimals } = parseDecimal(percentage) ?? { units: 0n, decimals: 1 };': 'Zero has any decimals.',
  },
  'idempotency.ts': {
    'members.sort(([a], [b]) => (a <= b ? -1 : 1));': NAMED_ONCE,
    'members.sort(([a], [b]) => (a < b ? -1 : 0));': ASKS_FOR_LESS,
  },
  'ids.ts': {
    'view.setUint32(2, nowMs % 3 ** 32);': LAST_32_BITS,
    'view.setUint32(2, nowMs % 2 ** 33);': LAST_32_BITS,
    'const prefix = ID_PREFIXES.findLast((candidate) => isId(candidate, id));':
      'No prefix is the beginning of another.',
    "if (false && (prefix === undefined)) throw new TypeError('not an id');":
      'It throws a TypeError further down as well. The condition is for the compiler.',
    'let pending = 1;': 'The bit is shifted out before the first byte is written.',
    "const prefix = mark >= SECOND_REFUND_MARK ? 'rfnd_' : (prefixes.findLast((each) => MARKS[each] === mark) ?? 'pay_');":
      'Each mark is of one prefix.',
    'return (bytes[0] ?? 1) >> 4;': 'An id has a first byte.',
    'marked[0] = ((marked[0] ?? 1) & 0x0f) | (mark << 4);': 'An id has a first byte.',
    'const FORM = /[0-7][0-9A-HJKMNP-TV-Z]{25}$/;': 'The length is checked before.',
    'const FORM = /^[0-7][0-9A-HJKMNP-TV-Z]{25}/;': 'The length is checked before.',
  },
  'image-type.ts': {
    'const end = Math.min(new DataView(bytes.buffer, bytes.byteOffset).getUint32(0), bytes.length, 17 + 4 * MAX_BRANDS);':
      'A brand has four bytes, and one byte more has no place for another.',
  },
  'money-line.ts': {
    'const amount = lines.reduce((sum, { units }) => (units >= 0n ? sum + units : sum), 0n);':
      'Zero units add nothing.',
  },
  'money/fee-share.ts': {
    'return units > schedule.of ? schedule.fee : unboundedShare(schedule, units);':
      'The share of exactly the whole is the whole fee.',
  },
  'money/fold.ts': {
    'ways.findLast((way) => way.commitment === commitment && way.network === network) ??':
      'A commitment is one way on a network.',
    "ways.findLast((way) => way.commitment === commitment && way.kind === 'deposit')":
      'The ways of one commitment have the same recipient, and the reason is the wrong network by each.',
    'const isDust = amount < (work.terms.dustBelow[asset] ?? 1n);': 'Nobody arrives with less than one unit.',
    'if (true || (first.amount > 0n)) join(work, { ...first, isPaying: true, reason: null });': NOTHING_JOINS,
    'if (first.amount >= 0n) join(work, { ...first, isPaying: true, reason: null });': NOTHING_JOINS,
    'if (rest.amount > 0n) join(work, { ...rest, id: `${part.id}/rest`, });':
      'The rest of money of the way that paid has this reason already.',
    'net: before.net - part.net,': WAITING_JOINS,
    'fee: before.fee - part.fee,': WAITING_JOINS,
    'if (false && (amount === 0n)) return;': 'A sweep of nothing moves nothing.',
    'const isCapped = fee <= way.fee && units >= way.asked;': SAME_IF_EQUAL,
    '(lot) => lot.waiting >= 0n && lot.address === address && lot.network === network && lot.asset === asset,':
      MOVES_NOTHING,
    'if (true || (left > 0n)) move(lot, free < left ? free : left);': MOVES_NOTHING,
    'if (left >= 0n) move(lot, free < left ? free : left);': MOVES_NOTHING,
    'if (left > 0n) move(lot, free <= left ? free : left);': SAME_IF_EQUAL,
    'if (true || (lot !== undefined)) move(lot, unexplained);': 'The lot was set on the line before.',
  },
  'money/holding.ts': {
    'const place = spends.findLast(({ lot }) => lot === id);': 'All spends of a lot have its place.',
    'if (over < 0n || place === undefined) continue;': 'A debt of nothing adds nothing, and is left out at the end.',
    'return a <= b ? a : b;': SAME_IF_EQUAL,
    'return a >= b ? a : b;': SAME_IF_EQUAL,
  },
  'money/judge.ts': {
    'const isOver = ({ network, deadlineS }: Way) => (finalTimes.get(network) ?? -0) > deadlineS;':
      'No deadline is before 1970.',
  },
  'money/money-out.ts': {
    'const MAX_PAYOUTS = 256;': 'The number 256 in a byte is 0, which is taken.',
    'for (let number = 0; number <= Math.max(spends.length, MAX_PAYOUTS); number += 1) {':
      'So many spends have at most so many numbers, so a free one is found before. Numbers above 255 are taken.',
  },
  'money/movement.ts': {
    'if (a.network !== b.network) return a.network <= b.network ? -1 : 1;': 'The networks differ here.',
  },
  'money/owner.ts': {
    'return rest === 0n ? fees : [...fees, { owner: NOBODY, amount: rest, isFee: false }];':
      'Units without an owner are neither a fee nor a net amount.',
    'const next = events.find((event): event is Swept => isSweepOf(event, leg) && event.index >= leg.index);':
      ONE_INDEX,
    'const own = legs.filter((each) => each.from === leg.from && each.asset === leg.asset && each.index <= sweep.index);':
      ONE_INDEX,
    'event.index > leg.index &&': ONE_INDEX,
    '(each) => each.index <= leg.index || each.index >= item.index || each.from !== leg.from || !isLegOf(each, item),':
      ONE_INDEX,
    'event.index <= leg.index &&': ONE_INDEX,
    'event.index >= since,': ONE_INDEX,
  },
  'money/position-entries.ts': {
    'if (false && (changed.length === 0)) return [];': 'Nothing changed gives no entries further down as well.',
    'if (changed.length === 1) return [];': 'Lines add up to zero, so one alone cannot have changed.',
    'const arrived = -(changed.findLast(({ account }) => account === ACCOUNTS.payer)?.units ?? 0n);': ONE_LINE,
    'const swept = -(rest.findLast(({ account }) => account === ACCOUNTS.deposits)?.units ?? 0n);': ONE_LINE,
    "...(arrived === 0n ? [] : [entry('deposited', subject, come, arrived >= 0n && fact ? { block: fact.block } : {})]),":
      'Nothing that arrived has no entry.',
  },
  'nearest.ts': {
    'const rows = [Array.from({ length: to.length + 0 }, (_, column) => column)];':
      'The way by this column exchanges the whole word, which is never near.',
    ...Object.fromEntries(
      ['row > 0 && column > 1', 'row >= 1 && column > 1', 'row > 1 && column >= 1', 'row > 1 && column > 0'].map(
        (both) => [
          `const isSwapped = ${both} && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];`,
          'There is no letter before the first one, which equals none.',
        ],
      ),
    ),
  },
  'slots.ts': {
    'export const SLOT_REACH = 65;': MARGIN,
    'if (atLeast !== undefined || atMost !== undefined) {': 'Two endpoints give both bounds, and less than two none.',
  },
  'option.ts': {
    'const MAX_LENGTH = 4097;': NO_SUCH_LENGTH,
    'if (id.length >= MAX_LENGTH || !/^[\\w-]+$/.test(id)) return undefined;': NO_SUCH_LENGTH,
    'const FORM = 4;': 'Sealing and opening have the same number. Ids of another one live for ten minutes.',
    'const content = [cipher.update(text.padStart(Math.ceil(text.length / BLOCK) * BLOCK)), cipher.final()];':
      'White space before JSON means as little as behind it.',
    'if (id.length > MAX_LENGTH && !/^[\\w-]+$/.test(id)) return undefined;': AUTHENTICATED,
    'if (false && (id.length > MAX_LENGTH || !/^[\\w-]+$/.test(id))) return undefined;': AUTHENTICATED,
    'if (id.length > MAX_LENGTH || !/[\\w-]+$/.test(id)) return undefined;': CANONICAL,
    'if (id.length > MAX_LENGTH || !/^[\\w-]+/.test(id)) return undefined;': CANONICAL,
    "if (bytes.length < OPTION_NONCE_BYTES + TAG_BYTES || bytes.toString('base64url') !== id) return undefined;":
      'A nonce and a tag of nothing would need the key.',
    'const text = keys.map((key) => decrypt(keyOfPayment(key, paymentId), bytes)).findLast((found) => found !== undefined);':
      'One key alone opens an id.',
    'const CLOCK_SKEW_S = 31;': MARGIN,
  },
  'passkey-challenge.ts': {
    'new DataView(bytes.buffer).setUint32(2, endMs % 3 ** 32);': LAST_32_BITS,
    'new DataView(bytes.buffer).setUint32(2, endMs % 2 ** 33);': LAST_32_BITS,
  },
  'payment-link.ts': {
    'export const MAX_STOCK = 10001;': CHOSEN,
    'export const MAX_LINKS = 1001;': CHOSEN,
    'return stock !== null && (taken ?? 1) >= stock;': 'A link with a stock has a number of pieces taken.',
  },
  'prepared-key.ts': {
    'if (true || (key === undefined)) {': PREPARED_ONCE,
    '(without) prepared.set(bytes, key);': PREPARED_ONCE,
  },
  'quorum.ts': {
    'return endpoints === 2 && silent.length === 1 && silent.some(({ silentForMs }) => silentForMs >= SILENT_AFTER_MS);':
      'There is one silent endpoint here.',
  },
  'quote.ts': {
    'return converted <= quote.amount ? converted : quote.amount;': SAME_IF_EQUAL,
    'while (step > 1n && step * MOST_ADDED >= amount) step /= 10n;':
      'Exactly a hundred steps are a whole number of steps, and of their tenths.',
  },
  'rate.ts': {
    'if (base === undefined && quote === undefined || numerator === undefined || denominator === undefined)':
      BOTH_GROUPS,
    'if (base === undefined || quote === undefined && numerator === undefined || denominator === undefined)':
      BOTH_GROUPS,
    'if (base === undefined || quote === undefined || numerator === undefined && denominator === undefined)':
      BOTH_GROUPS,
    "if (low === undefined && high === undefined) throw new Error('There is no median of nothing.');":
      'Either there are both middle values or none. The condition is for the compiler.',
    'numerator <= denominator ? 1 - digitsOf(denominator / numerator) : digitsOf(numerator / denominator);':
      'One to one is shown as 1 with any number of decimals.',
  },
  'receipt.ts': {
    'const counted = swept <= asked ? swept : asked;': SAME_IF_EQUAL,
    'return sent >= counted ? sent : counted;': SAME_IF_EQUAL,
    'const members = Object.entries(object).sort(([a], [b]) => (a <= b ? -1 : 1));': NAMED_ONCE,
    'const members = Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 0));': ASKS_FOR_LESS,
  },
  'refund.ts': {
    "return REFUND_PROBLEMS.findLast((each) => each === problem) ?? 'not_received';": 'The list has each problem once.',
    'const proRata = feeShare({ fee: payment.fee, of: payment.amount }, 1n, given) - (payment.fee - left.fee);':
      'One unit bears a fee only if the fee is the whole amount. Then nothing is left net, and the bound gives the same.',
    'const netLeft = left.amount + left.fee;':
      'A bound for safety. Shares pro rata, counted from the first refund, never exceed the net amount.',
    'return a <= b ? a : b;': SAME_IF_EQUAL,
    'return a >= b ? a : b;': SAME_IF_EQUAL,
  },
  'row-mac.ts': {
    'const sorted = Object.entries(fields).sort(([a], [b]) => (a <= b ? -1 : 1));': NAMED_ONCE,
    'const sorted = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 0));': ASKS_FOR_LESS,
  },
  'seal.ts': {
    'const key = keys.findLast((each) => encrypt(each, id) === stored) ?? newest;': 'The keys of a ring differ.',
    'const key = keys.findLast((each) => timingSafeEqual(macOf(each, half, terms), mac));':
      'The keys of a ring differ.',
    'return createCipheriv(CIPHER, halvesOf(key).encryption, null).setAutoPadding(true);':
      'The padding would come with the end of the cipher, which is not read.',
    'if (true || (found === undefined)) {': PREPARED_ONCE,
    '(without) halves.set(key, found);': PREPARED_ONCE,
  },
  'send-plan.ts': {
    'const limit = Math.max(0, Math.floor(maxItemsOf(item) / 4 ** item.attempts));':
      'A limit of none begins a batch for each item, as a limit of one does.',
  },
  'typed-amount.ts': {
    'const code = character.codePointAt(0) ?? 1;': 'A character has a code.',
    'const zero = ZEROS.findLast((each) => code >= each && code < each + 10);': 'The ranges have no digit in common.',
  },
  'version.ts': {
    'const [year = 0, month = 1, day = 0] = match.slice(1, 4).map(Number);': ALL_THREE,
    'const [year = 1, month = 0, day = 0] = match.slice(1, 4).map(Number);': ALL_THREE,
    'const [year = 0, month = 0, day = 1] = match.slice(1, 4).map(Number);': ALL_THREE,
    'const [year = 0, month = 0, day = 0] = match.slice(1, 5).map(Number);': ALL_THREE,
  },
  'wait.ts': {
    "seen !== undefined ? 4 : state === 'sent' ? 2 : state === 'due' ? 1 : 0;": 'The ranks have the same order.',
    'return alerts.findLast((alert) => alert.name === name);': 'A network has one open alert of a name.',
  },
  'webhook-url.ts': {
    "if (url.username !== '' && url.password !== '' || /^[a-z]+:\\/\\/[^/?#]*@/i.test(text)) {":
      'The pattern finds the @ of every credential as well.',
    "const literal = hostname.replace(/\\[|\\]$/g, '');": BRACKETS,
    "const literal = hostname.replace(/^\\[|\\]/g, '');": BRACKETS,
  },
  'webhook-pace.ts': {
    'for (let isGiven = true; isGiven && left >= 0; ) {': 'A further round has no places to give.',
  },
  'webhook.ts': {
    ...Object.fromEntries(
      ['ofPartner: 21, ofMerchant: 5, ofMerchants: 1_000', 'ofPartner: 20, ofMerchant: 6, ofMerchants: 1_000']
        .concat('ofPartner: 20, ofMerchant: 5, ofMerchants: 1001')
        .map((numbers) => [`export const ENDPOINT_QUOTA: Quota = { ${numbers} };`, CHOSEN]),
    ),
    'export function nextAttemptMs({ begunAtMs, retryAfterMs = 1, ...attempt }: FailedAttempt): number | undefined {':
      'Every wait is longer than a millisecond.',
    'if (false && (header === undefined)) return undefined;': 'The word `undefined` is neither a number nor a date.',
  },
  'webhook-secret.ts': {
    'const FORM = /^whsec_([A-Za-z0-9+/]{32,87}={0,2})$/;': 'The number of bytes is checked as well.',
    'const FORM = /^whsec_([A-Za-z0-9+/]{32,86}={0,3})$/;': 'Only the one spelling of the bytes is accepted.',
    'const MOST_BYTES = 65;': 'The form has no place for 65 bytes.',
  },
};
