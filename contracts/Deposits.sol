// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/**
 * Deposit addresses: each payment has addresses of its own, and whatever arrives there can be swept to the recipient and
 * the fee account of that payment, and nowhere else. Anybody may sweep, as often as needed. There is no owner, no setting
 * and no key.
 *
 * An address is the CREATE2 address of a minimal proxy (EIP-1167) of this contract. Its salt is the commitment: the hash of
 * asked token, fee account, payment, recipient, asked amount and fee. Whoever sweeps names these terms; other terms have
 * another address. The proxy is created by the first sweep, and obeys only this contract. The chain is no part of the
 * terms, so money that was sent on a wrong chain can be swept there.
 */
contract Deposits {
    /// An amount of a token was swept from the deposit address of these terms: the fee to the fee account, the rest to the
    /// recipient. It proves this amount and no payment: anybody may sweep a part, and choose terms with any payment id.
    event Swept(
        bytes32 indexed commitment, bytes16 paymentId, address token, uint256 amount, uint256 fee, address recipient
    );

    error Reentered();
    error NotForYou();
    error MalformedItems();
    error NotEnoughGas();

    // Reasons of items that are not swept.
    error ImpossibleTerms();
    error NotAToken();
    error NothingThere();
    error NotCreated();
    error OutOfGas();
    error PayoutFailed(bytes reason);
    error WrongPayout();
    error NotAuthorized();
    error ShortArrival();

    /// The selector and four words, or three for items with an authorization. The items follow.
    uint256 private constant ARGUMENT_BYTES = 132;
    uint256 private constant AUTHORIZED_ARGUMENT_BYTES = 100;

    /// Packed: payment id 16, recipient 20, asked amount 16, fee 16 bytes.
    uint256 private constant ITEM_BYTES = 68;

    /// With an authorization also: payer 20, start 5, end 5, nonce 32, length of the signature 2 bytes. The signature follows.
    uint256 private constant AUTHORIZED_BYTES = 132;

    /// The gas of a balance, of the creation of a proxy, and of the rest of an item besides its allowance.
    uint256 private constant BALANCE_GAS = 60_000;
    uint256 private constant CREATE_GAS = 50_000;
    uint256 private constant ITEM_GAS = 15_000;

    /// The most bytes kept of a reason. A token may return megabytes.
    uint256 private constant MAX_REASON_BYTES = 256;

    address private immutable self = address(this);

    uint256 private transient entered;

    /**
     * Sweeps `token` from the deposit addresses of the packed items that follow the arguments. All of them were made for
     * `askedToken`, which is `token` unless somebody sent the wrong one, and share a fee account. An item that fails is
     * undone alone. Its payouts may use `itemGas`; the call reverts as a whole before it starts an item with less gas.
     *
     * @return refusals for each item that was not swept: its index in 2 bytes, the length of the reason in 2, the reason.
     */
    function sweep(address token, address askedToken, address feeAccount, uint256 itemGas)
        external
        returns (bytes memory refusals)
    {
        _enter();
        bytes calldata items = msg.data[ARGUMENT_BYTES:];
        require(items.length % ITEM_BYTES == 0, MalformedItems());
        bytes memory proxy = _proxy();
        bytes32 proxyHash = keccak256(proxy);
        // A call never gets more than 63/64 of the remaining gas.
        uint256 neededGas = itemGas + itemGas / 63 + BALANCE_GAS + CREATE_GAS + ITEM_GAS;
        for (uint256 index = 0; index < items.length / ITEM_BYTES; ++index) {
            require(gasleft() > neededGas, NotEnoughGas());
            bytes calldata item = items[index * ITEM_BYTES:(index + 1) * ITEM_BYTES];
            bytes32 salt = keccak256(abi.encodePacked(askedToken, feeAccount, item));
            address deposit = _addressOf(salt, proxyHash);
            bytes memory reason = _sweepOne(token, feeAccount, itemGas, item, deposit, salt, proxy);
            if (reason.length > 0) refusals = _with(refusals, index, reason);
        }
        entered = 0;
    }

    /**
     * Pulls the asked amounts of packed items to their deposit addresses, by authorizations that payers signed with their
     * keys (EIP-3009), and sweeps the addresses. An item that fails is undone alone, so its payer keeps the money. Each may
     * use `itemGas`; the call reverts as a whole before it starts an item with less gas.
     *
     * An authorization names the deposit address and nothing else, so anybody may present it to the token first. Then the
     * item fails here, the money is at its address, and `sweep` takes it where it belongs.
     */
    function sweepByKey(address token, address feeAccount, uint256 itemGas) external returns (bytes memory) {
        return _sweepAuthorized(true, token, feeAccount, itemGas);
    }

    /// The same with signatures of any length, for tokens whose EIP-3009 supports wallet contracts (ERC-1271) too.
    function sweepByWallet(address token, address feeAccount, uint256 itemGas) external returns (bytes memory) {
        return _sweepAuthorized(false, token, feeAccount, itemGas);
    }

    /**
     * One item with an authorization: pull the asked amount, check that all of it arrived, sweep. The contract calls this on
     * itself, so that the EVM undoes a failed item.
     */
    function carryOut(bool isByKey, address token, address feeAccount, bytes calldata item) external {
        require(msg.sender == address(this), NotForYou());
        bytes memory proxy = _proxy();
        bytes calldata terms = item[:ITEM_BYTES];
        bytes32 salt = keccak256(abi.encodePacked(token, feeAccount, terms));
        address deposit = _addressOf(salt, keccak256(proxy));
        uint256 expected = _heldBy(token, deposit) + uint128(bytes16(item[36:52]));
        _pull(isByKey, token, deposit, item);
        require(_heldBy(token, deposit) == expected, ShortArrival());
        bytes memory reason = _sweepOne(token, feeAccount, gasleft(), terms, deposit, salt, proxy);
        if (reason.length > 0) _revertWith(reason);
    }

    /**
     * Pays out, in the context of a proxy: the fee, the rest, and nothing else. `left` is the balance that must remain.
     */
    function payOut(address token, address feeAccount, uint256 fee, address recipient, uint256 net, uint256 left)
        external
    {
        require(msg.sender == self, NotForYou());
        if (fee > 0) _transfer(token, feeAccount, fee);
        if (net > 0) _transfer(token, recipient, net);
        (bool isToken, uint256 balance) = _balance(token, address(this), gasleft());
        require(isToken && balance == left, WrongPayout());
    }

    /// Tokens and wallets are untrusted: none of them may reenter. A proxy runs this code too, and sweeps nothing.
    function _enter() private {
        require(address(this) == self, NotForYou());
        require(entered == 0, Reentered());
        entered = 1;
    }

    function _sweepAuthorized(bool isByKey, address token, address feeAccount, uint256 itemGas)
        private
        returns (bytes memory refusals)
    {
        _enter();
        bytes calldata items = msg.data[AUTHORIZED_ARGUMENT_BYTES:];
        uint256 neededGas = itemGas + itemGas / 63 + ITEM_GAS;
        uint256 index = 0;
        for (uint256 offset = 0; offset < items.length; ++index) {
            require(items.length - offset >= AUTHORIZED_BYTES, MalformedItems());
            uint256 end = offset + AUTHORIZED_BYTES;
            end += uint16(bytes2(items[end - 2:end]));
            require(end <= items.length, MalformedItems());
            require(gasleft() > neededGas, NotEnoughGas());
            bytes memory input = abi.encodeCall(this.carryOut, (isByKey, token, feeAccount, items[offset:end]));
            bytes memory reason = _attempt(input, itemGas);
            if (reason.length > 0) refusals = _with(refusals, index, reason);
            offset = end;
        }
        entered = 0;
    }

    /// Carries out one item. A failure undoes it, and its reason is returned.
    function _attempt(bytes memory input, uint256 itemGas) private returns (bytes memory reason) {
        uint256 gasBefore = gasleft();
        bool isDone;
        assembly ("memory-safe") {
            isDone := call(itemGas, address(), 0, add(input, 0x20), mload(input), 0, 0)
        }
        if (isDone) return "";
        reason = _returned();
        // Each nested call keeps 1/64 back: out of gas three calls deep means that 15/16 or more is spent.
        if (gasBefore - gasleft() > itemGas - itemGas / 16) return abi.encodePacked(OutOfGas.selector);
        return reason.length > 0 ? reason : abi.encodePacked(NotAuthorized.selector);
    }

    /// `transferWithAuthorization` of the asked amount to the deposit address, in the form that the token has.
    function _pull(bool isByKey, address token, address deposit, bytes calldata item) private {
        address payer = address(bytes20(item[68:88]));
        uint256 asked = uint128(bytes16(item[36:52]));
        uint256 start = uint40(bytes5(item[88:93]));
        uint256 end = uint40(bytes5(item[93:98]));
        bytes32 nonce = bytes32(item[98:130]);
        bytes calldata signature = item[AUTHORIZED_BYTES:];
        bytes memory input;
        if (isByKey) {
            require(signature.length == 64, MalformedItems());
            // EIP-2098: the highest bit of the second word selects one of two possible keys.
            uint256 vs = uint256(bytes32(signature[32:]));
            input = abi.encodeWithSignature(
                "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)",
                payer,
                deposit,
                asked,
                start,
                end,
                nonce,
                27 + (vs >> 255),
                bytes32(signature[:32]),
                vs << 1 >> 1
            );
        } else {
            input = abi.encodeWithSignature(
                "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)",
                payer,
                deposit,
                asked,
                start,
                end,
                nonce,
                signature
            );
        }
        bool isDone;
        assembly ("memory-safe") {
            isDone := call(gas(), token, 0, add(input, 0x20), mload(input), 0, 0)
        }
        if (!isDone) _revertWith(_returned());
    }

    function _heldBy(address token, address account) private view returns (uint256) {
        (bool isToken, uint256 held) = _balance(token, account, gasleft());
        require(isToken, NotAToken());
        return held;
    }

    /// The refusals, with one more: its index in 2 bytes, the length of the reason in 2, the reason.
    function _with(bytes memory refusals, uint256 index, bytes memory reason) private pure returns (bytes memory) {
        return bytes.concat(refusals, bytes2(uint16(index)), bytes2(uint16(reason.length)), reason);
    }

    function _revertWith(bytes memory reason) private pure {
        assembly ("memory-safe") {
            revert(add(reason, 0x20), mload(reason))
        }
    }

    /// Sweeps one deposit address. Returns the reason if it is not swept.
    function _sweepOne(
        address token,
        address feeAccount,
        uint256 itemGas,
        bytes calldata item,
        address deposit,
        bytes32 salt,
        bytes memory proxy
    ) private returns (bytes memory) {
        address recipient = address(bytes20(item[16:36]));
        uint256 asked = uint128(bytes16(item[36:52]));
        uint256 fee = uint128(bytes16(item[52:68]));
        if (asked == 0 || fee > asked) return abi.encodePacked(ImpossibleTerms.selector);
        (bool isToken, uint256 held) = _balance(token, deposit, BALANCE_GAS);
        if (!isToken) return abi.encodePacked(NotAToken.selector);
        if (held == 0) return abi.encodePacked(NothingThere.selector);
        if (deposit.code.length == 0 && !_create(salt, proxy)) return abi.encodePacked(NotCreated.selector);

        // More than 16 bytes can count is swept in parts. So the product below cannot overflow.
        uint256 amount = held > type(uint128).max ? type(uint128).max : held;
        // The share that the fee has of the asked amount, of whatever has arrived.
        fee = amount * fee / asked;
        bytes memory input =
            abi.encodeCall(this.payOut, (token, feeAccount, fee, recipient, amount - fee, held - amount));
        uint256 gasBefore = gasleft();
        // The answer is short: the proxy runs the code above.
        (bool isDone, bytes memory reason) = deposit.call{gas: itemGas}(input);
        if (isDone) {
            emit Swept(salt, bytes16(item[:16]), token, amount, fee, recipient);
            return "";
        }
        // Each nested call keeps 1/64 back: out of gas three calls deep means that 15/16 or more is spent.
        if (gasBefore - gasleft() > itemGas - itemGas / 16) return abi.encodePacked(OutOfGas.selector);
        return reason.length > 0 ? reason : abi.encodePacked(PayoutFailed.selector);
    }

    /// The creation code of a minimal proxy of this contract (EIP-1167).
    function _proxy() private view returns (bytes memory) {
        return abi.encodePacked(hex"3d602d80600a3d3981f3363d3d373d3d3d363d73", self, hex"5af43d82803e903d91602b57fd5bf3");
    }

    function _addressOf(bytes32 salt, bytes32 proxyHash) private view returns (address) {
        return address(uint160(uint256(keccak256(abi.encodePacked(hex"ff", self, salt, proxyHash)))));
    }

    function _create(bytes32 salt, bytes memory proxy) private returns (bool isCreated) {
        assembly ("memory-safe") {
            isCreated := iszero(iszero(create2(0, add(proxy, 0x20), mload(proxy), salt)))
        }
    }

    /// The balance of an account. Untrusted return data is not copied into memory beyond its first word.
    function _balance(address token, address account, uint256 gasLimit)
        private
        view
        returns (bool isToken, uint256 units)
    {
        bytes memory input = abi.encodeWithSignature("balanceOf(address)", account);
        assembly ("memory-safe") {
            isToken := staticcall(gasLimit, token, add(input, 0x20), mload(input), 0x00, 0x20)
            isToken := and(isToken, gt(returndatasize(), 0x1f))
            units := mload(0x00)
        }
    }

    /// A token refuses by a revert or by false; some succeed without return data.
    function _transfer(address token, address to, uint256 value) private {
        bytes memory input = abi.encodeWithSignature("transfer(address,uint256)", to, value);
        bool isDone;
        assembly ("memory-safe") {
            mstore(0x00, 0)
            isDone := call(gas(), token, 0, add(input, 0x20), mload(input), 0x00, 0x20)
            isDone := and(isDone, or(iszero(returndatasize()), eq(mload(0x00), 1)))
        }
        if (!isDone) revert PayoutFailed(_returned());
    }

    /// The beginning of the last call's return data.
    function _returned() private pure returns (bytes memory data) {
        assembly ("memory-safe") {
            let length := returndatasize()
            if gt(length, MAX_REASON_BYTES) { length := MAX_REASON_BYTES }
            data := mload(0x40)
            mstore(data, length)
            returndatacopy(add(data, 0x20), 0, length)
            mstore(0x40, add(data, and(add(length, 0x3f), not(0x1f))))
        }
    }
}
