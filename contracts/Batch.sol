// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/**
 * The shared parts of contracts that carry out packed items one by one: a lock, calls of untrusted tokens, and the list
 * of refusals.
 */
abstract contract Batch {
    error Reentered();
    error NotForYou();
    error NotEnoughGas();

    // Reasons of items that are not carried out, in addition to those of tokens and Permit2.
    error NotAToken();
    error OutOfGas();
    error PayoutFailed(bytes reason);
    error WrongPayout();
    error ShortArrival();

    /// The most bytes kept of a reason. A token may return megabytes.
    uint256 private constant MAX_REASON_BYTES = 256;

    /// The gas of the batch between its gas check and the first instruction of an item, with a margin.
    uint256 private constant CALL_GAS = 3_000;

    // Selectors of `balanceOf(address)` and `transfer(address,uint256)`. Assembly can only read constants that are plain
    // numbers.
    uint256 private constant BALANCE_OF = 0x70a08231;
    uint256 private constant TRANSFER = 0xa9059cbb;

    uint256 private transient entered;

    /// Tokens, wallets and recipients are untrusted: none of them may reenter while items are carried out.
    modifier once() {
        require(entered == 0, Reentered());
        entered = 1;
        _;
        entered = 0;
    }

    /// The gas that must be left before an item starts. A call never gets more than 63/64 of the remaining gas.
    function _neededGas(uint256 itemGas) internal pure returns (uint256) {
        return itemGas + itemGas / 63 + CALL_GAS;
    }

    /**
     * True if a failed call that was given `given` gas has run out of it. Each nested call keeps 1/64 back, so out of gas
     * eight calls deep means that 7/8 or more is spent.
     */
    function _isSpent(uint256 gasBefore, uint256 given) internal view returns (bool) {
        return gasBefore - gasleft() > given - given / 8;
    }

    /// The account's balance of the token. Untrusted return data is not copied into memory beyond its first word.
    function _balance(address token, address account) internal view returns (uint256 units) {
        bool isAnswered;
        assembly ("memory-safe") {
            mstore(0x00, shl(224, BALANCE_OF))
            mstore(0x04, account)
            isAnswered := staticcall(gas(), token, 0x00, 0x24, 0x00, 0x20)
            isAnswered := and(isAnswered, gt(returndatasize(), 0x1f))
            units := mload(0x00)
        }
        require(isAnswered, NotAToken());
    }

    /// A token refuses by a revert or by false; some succeed without return data. `_returned` has the return data.
    function _transfer(address token, address to, uint256 value, uint256 gasLimit) internal returns (bool isDone) {
        assembly ("memory-safe") {
            let input := mload(0x40)
            mstore(input, shl(224, TRANSFER))
            mstore(add(input, 0x04), to)
            mstore(add(input, 0x24), value)
            mstore(0x00, 0)
            isDone := call(gasLimit, token, 0, input, 0x44, 0x00, 0x20)
            isDone := and(isDone, or(iszero(returndatasize()), eq(mload(0x00), 1)))
        }
    }

    /// Sends native coin. Solidity would copy the receiver's return data into memory, at the sender's cost.
    function _send(address to, uint256 value, uint256 gasLimit) internal returns (bool isSent) {
        assembly ("memory-safe") {
            isSent := call(gasLimit, to, value, 0, 0, 0, 0)
        }
    }

    /**
     * Appends a refusal: its index in 2 bytes, the length of the reason in 2, the reason. The reason must be the only object
     * in memory behind the refusals: it is moved up to them, and its place is freed.
     */
    function _append(bytes memory refusals, uint256 index, bytes memory reason) internal pure {
        assembly ("memory-safe") {
            let length := mload(reason)
            let end := add(add(refusals, 0x20), mload(refusals))
            mstore(end, shl(224, or(shl(16, index), length)))
            mcopy(add(end, 4), add(reason, 0x20), length)
            mstore(refusals, add(mload(refusals), add(4, length)))
            mstore(0x40, and(add(add(end, length), 0x23), not(0x1f)))
        }
    }

    function _revertWith(bytes memory reason) internal pure {
        assembly ("memory-safe") {
            revert(add(reason, 0x20), mload(reason))
        }
    }

    /// The beginning of the last call's return data.
    function _returned() internal pure returns (bytes memory data) {
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
