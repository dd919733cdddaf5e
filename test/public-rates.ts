import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PublicSource } from '../src/rates/public-source.ts';

/** The moment of the recorded answers: a Monday. */
export const RECORDED_AT_MS = Date.UTC(2026, 2, 2, 15, 0, 0);

const seconds = Math.floor(RECORDED_AT_MS / 1_000);
const tickerOfBitstamp = (last: string) =>
  `{"timestamp":"${seconds}","open":"${last}","high":"${last}","low":"${last}","last":"${last}","volume":"1679.86203164",` +
  `"vwap":"${last}","bid":"${last}","ask":"${last}","side":"0","open_24":"${last}","percent_change_24":"0.39","market_type":"SPOT"}`;
const tickerOfKraken = (name: string, last: string) =>
  `{"error":[],"result":{"${name}":{"a":["${last}","4","4.000"],"b":["${last}","6","6.000"],"c":["${last}","2.00000000"],` +
  `"v":["25489.49597316","35276.40048677"],"p":["${last}","${last}"],"t":[3542,4754],"l":["${last}","${last}"],"h":["${last}","${last}"],"o":"${last}"}}}`;
const tickerOfGemini = (coin: string, last: string) =>
  `{"bid":"${last}","ask":"${last}","last":"${last}","volume":{"${coin}":"2210.505328803","USD":"2135477.463379586263","timestamp":${RECORDED_AT_MS - 300_000}}}`;
const indexOfOkx = (name: string, price: string) =>
  `{"code":"0","msg":"","data":[{"instId":"${name}","idxPx":"${price}","high24h":"${price}","low24h":"${price}","open24h":"${price}","sodUtc0":"${price}","sodUtc8":"${price}","ts":"${RECORDED_AT_MS - 1_200}"}]}`;

/** Units of each currency for a dollar, as the recorded answers have them, more or less. */
const FOR_A_DOLLAR: Readonly<Record<string, string>> = {
  EUR: '0.9091',
  GBP: '0.7692',
  CHF: '0.8800',
  JPY: '150.25',
  AUD: '1.5152',
  CAD: '1.3700',
  NZD: '1.6667',
  SEK: '10.300',
  NOK: '10.530',
  DKK: '6.7810',
  PLN: '3.8500',
  CZK: '22.750',
  HUF: '357.10',
  RON: '4.5400',
  ISK: '138.90',
  TRY: '33.330',
  ILS: '3.7000',
  ZAR: '18.180',
  BRL: '5.2600',
  MXN: '18.180',
  INR: '83.330',
  CNY: '7.1400',
  HKD: '7.8100',
  SGD: '1.3150',
  KRW: '1388.9',
  THB: '34.480',
  MYR: '4.5450',
  IDR: '16129',
  PHP: '57.140',
  TWD: '32.250',
  AED: '3.6725',
  SAR: '3.7500',
  CLP: '950.00',
  UAH: '41.660',
  VND: '25000',
};
const forADollar = (code: string) => Number(FOR_A_DOLLAR[code]);
const all = Object.keys(FOR_A_DOLLAR);
const without = (...codes: readonly string[]) => all.filter((code) => !codes.includes(code));
const banks = without('TWD', 'AED', 'SAR', 'CLP', 'UAH', 'VND');
const members = (codes: readonly string[], spell: (code: string) => string) => codes.map(spell).join(',');

/** What each public source answers, in the shape that it documents, by URL. */
export const RECORDED: Readonly<Record<string, string>> = {
  'https://api.coinbase.com/v2/exchange-rates?currency=USD':
    '{"data":{"currency":"USD","rates":{"00":"16.6","1INCH":"4.2",' +
    `${members(all, (code) => `"${code}":"${FOR_A_DOLLAR[code]}"`)},` +
    '"USD":"1.0","ETH":"0.00033333333333333","SOL":"0.00666666666666667","BNB":"0.00166666666666667","POL":"2.0020020020020020","MON":"33.3333333333333"}}}',
  'https://api.kraken.com/0/public/Ticker?pair=ETHUSD': tickerOfKraken('XETHZUSD', '3001.04000'),
  'https://api.kraken.com/0/public/Ticker?pair=SOLUSD': tickerOfKraken('SOLUSD', '150.10'),
  'https://api.kraken.com/0/public/Ticker?pair=BNBUSD': tickerOfKraken('BNBUSD', '600.50'),
  'https://api.kraken.com/0/public/Ticker?pair=POLUSD': tickerOfKraken('POLUSD', '0.5001'),
  'https://api.kraken.com/0/public/Ticker?pair=CELOUSD': tickerOfKraken('CELOUSD', '0.4001'),
  'https://api.kraken.com/0/public/Ticker?pair=MONUSD': tickerOfKraken('MONUSD', '0.0300'),
  'https://api.kraken.com/0/public/Ticker?pair=EURUSD': tickerOfKraken('ZEURZUSD', '1.10010'),
  'https://api.kraken.com/0/public/Ticker?pair=GBPUSD': tickerOfKraken('ZGBPZUSD', '1.30010'),
  'https://api.kraken.com/0/public/Ticker?pair=AUDUSD': tickerOfKraken('AUDUSD', '0.66010'),
  'https://api.kraken.com/0/public/Ticker?pair=USDJPY': tickerOfKraken('ZUSDZJPY', '150.300'),
  'https://api.kraken.com/0/public/Ticker?pair=USDCHF': tickerOfKraken('USDCHF', '0.88010'),
  'https://api.kraken.com/0/public/Ticker?pair=USDCAD': tickerOfKraken('ZUSDZCAD', '1.37020'),
  'https://www.bitstamp.net/api/v2/ticker/ethusd/': tickerOfBitstamp('2999.5'),
  'https://www.bitstamp.net/api/v2/ticker/solusd/': tickerOfBitstamp('149.90'),
  'https://www.bitstamp.net/api/v2/ticker/polusd/': tickerOfBitstamp('0.49990'),
  'https://www.bitstamp.net/api/v2/ticker/eurusd/': tickerOfBitstamp('1.09990'),
  'https://www.bitstamp.net/api/v2/ticker/gbpusd/': tickerOfBitstamp('1.29990'),
  'https://api.gemini.com/v1/pubticker/ethusd': tickerOfGemini('ETH', '3000.77'),
  'https://api.gemini.com/v1/pubticker/solusd': tickerOfGemini('SOL', '150.021'),
  'https://api-pub.bitfinex.com/v2/tickers?symbols=tETHUSD,tSOLUSD':
    '[["tETHUSD",2998.9,81.5,2999.3,64.25,-12.4,-0.00411,2999.1,1510.37,3055,2950.2],' +
    '["tSOLUSD",149.8,900.1,149.95,700.2,-1.1,-0.0073,149.9,20411.6,155.4,147.1]]',
  'https://www.okx.com/api/v5/market/index-tickers?instId=ETH-USD': indexOfOkx('ETH-USD', '3000.2'),
  'https://www.okx.com/api/v5/market/index-tickers?instId=SOL-USD': indexOfOkx('SOL-USD', '150.02'),
  'https://www.okx.com/api/v5/market/index-tickers?instId=BNB-USD': indexOfOkx('BNB-USD', '600.2'),
  'https://www.okx.com/api/v5/market/index-tickers?instId=POL-USD': indexOfOkx('POL-USD', '0.5'),
  'https://www.okx.com/api/v5/market/index-tickers?instId=CELO-USD': indexOfOkx('CELO-USD', '0.4'),
  'https://api.kucoin.com/api/v1/prices?base=USD&currencies=ETH,SOL,BNB,POL,CELO':
    '{"code":"200000","data":{"ETH":"3000.91000000","SOL":"150.11000000","BNB":"600.10000000","POL":"0.50020000","CELO":"0.40030000"}}',
  'https://api.coingecko.com/api/v3/simple/price?ids=ethereum,solana,binancecoin,polygon-ecosystem-token,celo,monad&vs_currencies=usd&include_last_updated_at=true':
    `{"ethereum":{"usd":3000.36,"last_updated_at":${seconds - 40}},"solana":{"usd":150.03,"last_updated_at":${seconds - 40}},` +
    `"binancecoin":{"usd":600.44,"last_updated_at":${seconds - 41}},"polygon-ecosystem-token":{"usd":0.500123,"last_updated_at":${seconds - 39}},` +
    `"celo":{"usd":0.400412,"last_updated_at":${seconds - 39}},"monad":{"usd":0.03001112,"last_updated_at":${seconds - 39}}}`,
  'https://api.coingecko.com/api/v3/exchange_rates':
    '{"rates":{"btc":{"name":"Bitcoin","unit":"BTC","value":1.0,"type":"crypto"},"eth":{"name":"Ether","unit":"ETH","value":20,"type":"crypto"},' +
    `"usd":{"name":"US Dollar","unit":"$","value":60000,"type":"fiat"},` +
    `${members(
      without('RON', 'ISK'),
      (code) =>
        `"${code.toLowerCase()}":{"name":"${code}","unit":"${code}","value":${(60_000 * forADollar(code)).toFixed(3)},"type":"fiat"}`,
    )},"xau":{"name":"Gold - Troy Ounce","unit":"XAU","value":22.5,"type":"commodity"}}}`,
  'https://api.frankfurter.dev/v1/latest?base=USD':
    '{"amount":1.0,"base":"USD","date":"2026-02-27","rates":{' +
    `${members(banks, (code) => `"${code}":${Number(FOR_A_DOLLAR[code])}`)}}}`,
  'https://api.nbp.pl/api/exchangerates/tables/A/?format=json':
    '[{"table":"A","no":"041/A/NBP/2026","effectiveDate":"2026-03-02","rates":[{"currency":"dolar amerykański","code":"USD","mid":3.8512},' +
    `${members(
      [...banks.filter((code) => code !== 'PLN'), 'CLP', 'UAH'],
      (code) => `{"currency":"${code}","code":"${code}","mid":${(3.8512 / forADollar(code)).toFixed(6)}}`,
    )},{"currency":"SDR (MFW)","code":"XDR","mid":5.1}]}]`,
  'https://api.cnb.cz/cnbapi/exrates/daily?lang=EN':
    '{"rates":[{"validFor":"2026-02-27","order":41,"country":"USA","currency":"dollar","amount":1,"currencyCode":"USD","rate":22.761},' +
    `${members(
      banks.filter((code) => code !== 'CZK'),
      (code) => {
        const amount = forADollar(code) > 1_000 ? 1_000 : forADollar(code) > 50 ? 100 : 1;
        const rate = ((22.761 * amount) / forADollar(code)).toFixed(3);
        return `{"validFor":"2026-02-27","order":41,"country":"-","currency":"-","amount":${amount},"currencyCode":"${code}","rate":${rate}}`;
      },
    )}]}`,
};

/** Answers requests as the public sources do, on this machine. */
export interface RecordedSources {
  /** The source as it is, but asking this machine. */
  at(source: PublicSource): PublicSource;
  /** By the URL of the source: other answers than the recorded ones. */
  readonly changed: Map<string, string>;
  /** Requests for URLs without an answer. */
  readonly unknown: string[];
  close(): void;
}

export async function serveRecorded(): Promise<RecordedSources> {
  const changed = new Map<string, string>();
  const unknown: string[] = [];
  const server: Server = createServer((request, response) => {
    const url = decodeURIComponent((request.url ?? '').slice('/?of='.length));
    const body = changed.get(url) ?? RECORDED[url];
    if (body === undefined) unknown.push(url);
    response.writeHead(body === undefined ? 404 : 200).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const here = `http://127.0.0.1:${(server.address() as AddressInfo).port}/?of=`;
  return {
    changed,
    unknown,
    at: (source) => ({
      ...source,
      requestsFor: (symbols) =>
        source.requestsFor(symbols).map((request) => ({ ...request, url: here + encodeURIComponent(request.url) })),
    }),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
