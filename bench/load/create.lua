-- POST /v1/payments. Every request has an Idempotency-Key of its own, and merchants take turns at random.
-- Arguments: API key, number of merchants, expiresAt in seconds, seed.

local head, tail, merchants
local count = 0

function init(args)
  merchants = tonumber(args[2])
  math.randomseed(tonumber(args[4]))
  head = 'POST /v1/payments HTTP/1.1\r\nHost: 127.0.0.1\r\nApi-Key: ' .. args[1]
    .. '\r\nContent-Type: application/json\r\nContent-Length: %d\r\nMerchant-Id: mrch_'
  tail = '"},"expiresAt":' .. args[3] .. ',"referenceId":"ORDER-'
  -- The body always has the same length.
  local length = #'{"amount":{"unit":"iso4217/USD","value":"00000' + #tail + #'0000000000"}'
  head = string.format(head, length)
end

function request()
  local random = math.random
  count = count + 1
  return string.format(
    '%s%026d\r\nIdempotency-Key: %08x-%04x-4%03x-%04x-%06x%06x\r\n\r\n'
      .. '{"amount":{"unit":"iso4217/USD","value":"%05d%s%010d"}',
    head, random(merchants),
    random(0, 0x7fffffff), random(0, 0xffff), random(0, 0xfff), random(0x8000, 0xbfff), random(0, 0xffffff), random(0, 0xffffff),
    random(10000, 99999), tail, count)
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"durationUs":%d,"failed":%d,"p50Us":%d,"p99Us":%d}\n',
    summary.requests, summary.duration,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50), latency:percentile(99)))
end
